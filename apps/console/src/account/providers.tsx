import { useLocation } from '@tanstack/react-router';
import { useSession } from '../session/session.js';
import { t } from '../texts/texts.js';

type Purpose = 'oauth-login' | 'oauth-signup';

/** How those write themselves whose names do not tell. */
const NAMES: Readonly<Record<string, string>> = { github: 'GitHub', line: 'LINE', twitter: 'X' };

/** A provider's name, as it writes itself. */
export function providerName(provider: string): string {
  return (
    NAMES[provider] ?? provider.replace(/(^|-)([a-z])/g, (_, gap: string, letter: string) => (gap && ' ') + letter.toUpperCase())
  );
}

/** The page to which providers send people back; undefined where it is another address's: that is another browser's. */
export function useReturnUrl(): string | undefined {
  const { returnUrl } = useSession().settings;
  return returnUrl !== undefined && new URL(returnUrl).origin === location.origin ? returnUrl : undefined;
}

/** Ways to sign in or up through the configured identity providers; nothing where there are none. */
export function ProviderLinks({ purpose }: { purpose: Purpose }) {
  const { providers } = useSession().settings;
  const returnUrl = useReturnUrl();
  const { pathname: path } = useLocation();
  if (providers.length === 0 || returnUrl === undefined) return null;
  const redirectUrl = `${returnUrl}?${new URLSearchParams({ purpose, to: purpose === 'oauth-login' ? path : '/' }).toString()}`;
  return (
    <nav className="providers" aria-label={t('account.providers.label')}>
      {providers.map((provider) => (
        <a key={provider} href={`/auth/oauth/${provider}?${new URLSearchParams({ purpose, redirectUrl }).toString()}`}>
          {t(purpose === 'oauth-login' ? 'account.providers.signIn' : 'account.providers.signUp', {
            provider: providerName(provider),
          })}
        </a>
      ))}
    </nav>
  );
}
