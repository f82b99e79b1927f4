import { MfaRequiredError } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useSession } from '../session/session.js';
import { Failure, Loading, Note } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { SecondStep } from './second-step.js';
import { Redirect } from '../ui/redirect.js';

type Purpose = 'oauth-login' | 'oauth-signup';

/** How those write themselves whose names do not tell. */
const NAMES: Readonly<Record<string, string>> = { github: 'GitHub', line: 'LINE', twitter: 'X' };

function nameOf(provider: string): string {
  return (
    NAMES[provider] ?? provider.replace(/(^|-)([a-z])/g, (_, gap: string, letter: string) => (gap && ' ') + letter.toUpperCase())
  );
}

/** Ways to sign in or up through the configured identity providers; nothing where there are none. */
export function ProviderLinks({ purpose }: { purpose: Purpose }) {
  const { providers, returnUrl } = useSession().settings;
  const { pathname: path } = useLocation();
  // the way back leads to the server's own address: from another one it would be another browser's
  if (providers.length === 0 || returnUrl === undefined || new URL(returnUrl).origin !== location.origin) return null;
  const redirectUrl = `${returnUrl}?${new URLSearchParams({ purpose, to: purpose === 'oauth-login' ? path : '/' }).toString()}`;
  return (
    <nav className="providers" aria-label="Other ways">
      {providers.map((provider) => (
        <a key={provider} href={`/auth/oauth/${provider}?${new URLSearchParams({ purpose, redirectUrl }).toString()}`}>
          {purpose === 'oauth-login' ? 'Continue' : 'Sign up'} with {nameOf(provider)}
        </a>
      ))}
    </nav>
  );
}

/** What the server says with a person who comes back (`REDIRECT_ERRORS`). */
const ENDINGS: Readonly<Record<string, string>> = {
  access_denied: 'You did not agree there, so nothing has happened.',
  email_missing: 'It gave no email address, which an account needs.',
  email_not_verified: 'It does not vouch for your email address. Create an account with a password, and link it then.',
  identity_not_found: 'No account signs in by it yet.',
  account_locked: 'This account is locked. Ask an admin.',
};

/** Where identity providers send people back. The token leaves the address at once; it works once, in this browser. */
export function Returned() {
  const { client, began, identityId } = useSession();
  const [{ token, error, purpose, to }] = useState(() => {
    const given = new URLSearchParams(location.search);
    return {
      token: given.get('onetimeToken'),
      error: given.get('error'),
      purpose: given.get('purpose'),
      to: given.get('to') ?? '/',
    };
  });
  const go = useNavigate();
  useEffect(() => void go({ to: '/returned', replace: true }), [go]);
  const redeemed = useQuery({
    queryKey: ['returned', token],
    // signing in clears all queries, and the token works once
    enabled: token !== null && identityId === undefined,
    retry: false,
    staleTime: Infinity,
    async queryFn(): Promise<{ id?: string; challenge?: MfaRequiredError }> {
      try {
        return await client.signInByToken({ token: token ?? '' });
      } catch (failure) {
        if (failure instanceof MfaRequiredError) return { challenge: failure };
        throw failure;
      }
    },
  });
  const { id, challenge } = redeemed.data ?? {};
  useEffect(() => {
    if (id !== undefined) began(id);
    // it is another function at every turn
    // oxlint-disable-next-line react/exhaustive-deps
  }, [id]);
  const [isBack, setBack] = useState(false);

  if (identityId !== undefined) return <Redirect to={to.startsWith('/') ? to : '/'} />;
  if (isBack) return <Redirect to="/" />;
  if (challenge !== undefined)
    return <SecondStep token={challenge.token} steps={challenge.factors} onDone={began} onBack={() => setBack(true)} />;
  return (
    <CardPage title="Sign in">
      {token !== null && redeemed.isPending && <Loading what="your account" />}
      <Failure of={redeemed.error} />
      {error !== null && <Note>{ENDINGS[error] ?? 'It did not work there. Try again, or another way.'}</Note>}
      {error === 'identity_not_found' && <ProviderLinks purpose="oauth-signup" />}
      <p className="card-links">
        <Link to={purpose === 'oauth-signup' ? '/sign-up' : '/'}>Another way</Link>
      </p>
    </CardPage>
  );
}
