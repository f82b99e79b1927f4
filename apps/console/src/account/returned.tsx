import { MfaRequiredError } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useSession } from '../session/session.js';
import { t } from '../texts/texts.js';
import { Failure, Loading, Note } from '../ui/notices.js';
import { Redirect } from '../ui/redirect.js';
import { CardPage } from './card-page.js';
import { ProviderLinks } from './providers.js';
import { SecondStep } from './second-step.js';

/** What the server says with a person who comes back (`REDIRECT_ERRORS`). */
const ENDINGS = {
  access_denied: 'accessDenied',
  email_missing: 'emailMissing',
  email_not_verified: 'emailNotVerified',
  identity_not_found: 'identityNotFound',
  account_locked: 'accountLocked',
} as const;
const endingOf = (error: string) => (Object.hasOwn(ENDINGS, error) ? ENDINGS[error as keyof typeof ENDINGS] : 'failed');

/** Where a person wanted to go: kept when this is drawn anew, once the address has been cleared. */
let wayOn = '/';

/** Where identity providers send people back. The token leaves the address at once; it works once, in this browser. */
export function Returned() {
  const { client, began, identityId } = useSession();
  const [{ token, error, purpose, to }] = useState(() => {
    const given = new URLSearchParams(location.search);
    return {
      token: given.get('onetimeToken'),
      error: given.get('error'),
      purpose: given.get('purpose'),
      to: (wayOn = given.get('to') ?? wayOn),
    };
  });
  const go = useNavigate();
  // who is signed in came back from linking, and is told what went wrong there
  const isOver = identityId !== undefined && error === null;
  const [wasOver] = useState(isOver);
  useEffect(() => {
    // else it would overtake the way on
    if (!wasOver) void go({ to: '/returned', replace: true });
  }, [go, wasOver]);
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

  if (isOver) return <Redirect to={to.startsWith('/') ? to : '/'} />;
  if (isBack) return <Redirect to="/" />;
  if (challenge !== undefined)
    return <SecondStep token={challenge.token} steps={challenge.factors} onDone={began} onBack={() => setBack(true)} />;
  return (
    <CardPage title={t(identityId === undefined ? 'account.signIn' : 'account.providers.yours')}>
      {token !== null && identityId === undefined && redeemed.isPending && <Loading what={t('ui.yourAccount')} lines={0} />}
      <Failure of={redeemed.error} />
      {error !== null && <Note>{t(`links.returned.${endingOf(error)}`)}</Note>}
      {error === 'identity_not_found' && <ProviderLinks purpose="oauth-signup" />}
      <p className="card-links">
        {identityId === undefined ? (
          <Link to={purpose === 'oauth-signup' ? '/sign-up' : '/'}>{t('links.returned.another')}</Link>
        ) : (
          <Link to={to.startsWith('/') ? to : '/'}>{t('account.providers.back')}</Link>
        )}
      </p>
    </CardPage>
  );
}
