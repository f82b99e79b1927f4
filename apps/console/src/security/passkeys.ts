import type { Passkeys } from '@tandem/client/passkeys';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.js';

/** Browsers make passkeys for names alone: not at `127.0.0.1`. */
const isAtAddress = () => /^[\d.]+$|:/.test(location.hostname);

/** The passkeys of this browser, loaded when a view wants them; undefined where the server or the page has none, and until then. */
export function usePasskeys(): Passkeys | undefined {
  const { client, settings } = useSession();
  return useQuery({
    queryKey: ['passkeys of this browser'],
    queryFn: async () => (await import('@tandem/client/passkeys')).createPasskeys(client),
    enabled: settings.passkeys && !isAtAddress(),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
}
