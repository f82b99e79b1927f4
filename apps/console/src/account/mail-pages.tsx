import { describeFailure } from '@tandem/client';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { useSession } from '../session/session.js';
import { brandName } from '../ui/brand.js';
import { Button } from '../ui/button.js';
import { Good } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { NewPasswordField } from './fields.js';
import { ActionForm } from './form.js';
import { SecondStep } from './second-step.js';
import { SignIn } from './sign-in.js';
import { useSignUp } from './sign-up.js';
import { Redirect } from '../ui/redirect.js';
import { t } from '../texts/texts.js';

interface LinkedPageProps {
  title: string;
  /** The token of the link. */
  token: string;
}

/**
 * A page that mails link to. The token moves from the address to the state of the history's entry at once: a reload
 * keeps it there, copied URLs lack it.
 */
function LinkedPage({ title, of: Page }: { title: string; of(props: LinkedPageProps): ReactNode }) {
  const { pathname, search, state } = useLocation();
  const go = useNavigate();
  // as it was opened: the address is another one while it is left
  const [{ path, token }] = useState({ path: pathname, token: (search as { token?: string }).token ?? state.token });
  useEffect(() => void go({ to: path, state: { token }, replace: true }), [go, path, token]);
  if (typeof token === 'string' && token !== '') return <Page title={title} token={token} />;
  return (
    <CardPage title={title}>
      <p>{t('links.link.incomplete')}</p>
      <p className="card-links">
        <Link to="/">{t('links.link.goOn', { brand: brandName() })}</Link>
      </p>
    </CardPage>
  );
}

function Done({ title, children }: { title: string; children: string }) {
  return (
    <CardPage title={title}>
      <Good>{children}</Good>
      <p className="card-links">
        <Link to="/">{t('links.link.goOn', { brand: brandName() })}</Link>
      </p>
    </CardPage>
  );
}

/** Mail scanners open links, so opening one changes nothing; the button does. */
function ConfirmEmail({ title, token }: LinkedPageProps) {
  const { client } = useSession();
  const [isDone, setDone] = useState(false);

  async function confirm(): Promise<void> {
    try {
      await client.api.auth.confirmEmail.mutate({ token });
    } catch (error) {
      // the address is already verified, which is the goal
      if (describeFailure(error).status !== 409) throw error;
    }
    setDone(true);
  }

  if (isDone) return <Done title={title}>{t('links.confirm.done')}</Done>;
  return (
    <CardPage title={title}>
      <p>{t('links.confirm.text')}</p>
      <ActionForm action={t('links.confirm.action')} run={confirm}>
        {null}
      </ActionForm>
    </CardPage>
  );
}

function ConfirmNewEmail({ title, token }: LinkedPageProps) {
  const { client } = useSession();
  const [isDone, setDone] = useState(false);

  async function confirm(): Promise<void> {
    await client.api.auth.confirmNewEmail.mutate({ token });
    setDone(true);
  }

  if (isDone) return <Done title={title}>{t('links.confirm.newDone')}</Done>;
  return (
    <CardPage title={title}>
      <p>{t('links.confirm.newText')}</p>
      <ActionForm action={t('links.confirm.newAction')} run={confirm}>
        {null}
      </ActionForm>
    </CardPage>
  );
}

function ResetPassword({ title, token }: LinkedPageProps) {
  const { client } = useSession();
  const [isDone, setDone] = useState(false);

  async function reset({ password = '' }: Record<string, string>): Promise<void> {
    await client.api.auth.resetPassword.mutate({ token, password });
    setDone(true);
  }

  if (isDone) return <Done title={title}>{t('links.reset.done')}</Done>;
  return (
    <CardPage title={title}>
      <ActionForm action={t('links.reset.change')} run={reset}>
        <NewPasswordField label={t('links.newPassword')} />
      </ActionForm>
      <p className="card-links">
        <Link to="/forgot-password">{t('links.reset.again')}</Link>
      </p>
    </CardPage>
  );
}

export const ConfirmEmailRoute = () => <LinkedPage title={t('links.confirm.title')} of={ConfirmEmail} />;
export const ConfirmNewEmailRoute = () => <LinkedPage title={t('links.confirm.newTitle')} of={ConfirmNewEmail} />;
export const ResetPasswordRoute = () => <LinkedPage title={t('links.reset.choose')} of={ResetPassword} />;
export const InvitationRoute = () => <LinkedPage title={t('links.invitation.title')} of={Invitation} />;

/** Creates an account with the invited address, or accepts the invitation into the existing one. */
function Invitation({ title, token }: LinkedPageProps) {
  const { client, identityId } = useSession();
  const { signUp, hasAccount: hasUsedIt, secondStep } = useSignUp();
  const [wantsToSignIn, setWantsToSignIn] = useState(false);
  const [isAccepted, setAccepted] = useState(false);

  async function accept(): Promise<void> {
    await client.api.invitations.accept.mutate({ token });
    setAccepted(true);
  }

  if (isAccepted) return <Done title={title}>{t('links.invitation.accepted')}</Done>;
  if (secondStep) return <SecondStep {...secondStep} />;
  if (identityId !== undefined && hasUsedIt) return <Redirect to="/" />;
  if (identityId !== undefined)
    return (
      <CardPage title={title}>
        <p>{t('links.invitation.signedIn')}</p>
        <ActionForm action={t('links.invitation.accept')} run={accept}>
          {null}
        </ActionForm>
      </CardPage>
    );
  if (wantsToSignIn) return <SignIn notice={t('links.invitation.signIn')} />;
  return (
    <CardPage title={title}>
      <p>{t('links.invitation.text')}</p>
      <ActionForm action={t('links.create')} run={({ password = '' }) => signUp({ token, password })}>
        <NewPasswordField />
      </ActionForm>
      <p className="card-links">
        <Button className="link" onClick={() => setWantsToSignIn(true)}>
          {t('links.hasAccount')}
        </Button>
      </p>
    </CardPage>
  );
}
