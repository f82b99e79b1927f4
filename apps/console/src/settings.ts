/** The server's settings, available before sign-in. */
export interface Settings {
  authMode: 'bearer' | 'cookie';
  /** A host's own name, logo and color (`#rrggbb`). */
  brand: { name: string; logoUrl?: string; color?: string };
  /** The identity type of admins. */
  adminTypeId: string;
  /** Whether the server makes passkeys. */
  passkeys: boolean;
  /** Names of the identity providers by which people sign in here. */
  providers: string[];
  /** The page to which these send people back. */
  returnUrl?: string;
}

/** @throws Error when the server does not answer */
export async function fetchSettings(): Promise<Settings> {
  const answer = await fetch('/console/settings.json');
  if (!answer.ok) throw new Error(`settings: ${answer.status}`);
  return (await answer.json()) as Settings;
}
