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

interface LinkedPageProps {
  title: string;
  /** The token of the link. */
  token: string;
}

/**
 * A page that mails link to. The token moves from the address to the state of the history's entry at once: a reload
 * keeps it there, copied URLs lack it.
 */
export function LinkedPage({ title, of: Page }: { title: string; of(props: LinkedPageProps): ReactNode }) {
  const { pathname, search, state } = useLocation();
  const go = useNavigate();
  // as it was opened: the address is another one while it is left
  const [{ path, token }] = useState({ path: pathname, token: (search as { token?: string }).token ?? state.token });
  useEffect(() => void go({ to: path, state: { token }, replace: true }), [go, path, token]);
  if (typeof token === 'string' && token !== '') return <Page title={title} token={token} />;
  return (
    <CardPage title={title}>
      <p>The link is incomplete. Open the one in the mail, or copy all of it.</p>
      <p className="card-links">
        <Link to="/">Continue to {brandName()}</Link>
      </p>
    </CardPage>
  );
}

function Done({ title, children }: { title: string; children: string }) {
  return (
    <CardPage title={title}>
      <Good>{children}</Good>
      <p className="card-links">
        <Link to="/">Continue to {brandName()}</Link>
      </p>
    </CardPage>
  );
}

/** Mail scanners open links, so opening one changes nothing; the button does. */
export function ConfirmEmail({ title, token }: LinkedPageProps) {
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

  if (isDone) return <Done title={title}>Your email address is confirmed. Thank you.</Done>;
  return (
    <CardPage title={title}>
      <p>Somebody who made an account with this address asked to confirm it. If that was you, go on.</p>
      <ActionForm action="Confirm email address" run={confirm}>
        {null}
      </ActionForm>
    </CardPage>
  );
}

export function ConfirmNewEmail({ title, token }: LinkedPageProps) {
  const { client } = useSession();
  const [isDone, setDone] = useState(false);

  async function confirm(): Promise<void> {
    await client.api.auth.confirmNewEmail.mutate({ token });
    setDone(true);
  }

  if (isDone) return <Done title={title}>Your account has this email address from now on.</Done>;
  return (
    <CardPage title={title}>
      <p>Your account is to use this email address from now on. If you asked for that, go on.</p>
      <ActionForm action="Confirm new address" run={confirm}>
        {null}
      </ActionForm>
    </CardPage>
  );
}

export function ResetPassword({ title, token }: LinkedPageProps) {
  const { client } = useSession();
  const [isDone, setDone] = useState(false);

  async function reset({ password = '' }: Record<string, string>): Promise<void> {
    await client.api.auth.resetPassword.mutate({ token, password });
    setDone(true);
  }

  if (isDone) return <Done title={title}>Your password is changed, and every device is signed out. Sign in with it now.</Done>;
  return (
    <CardPage title={title}>
      <ActionForm action="Change password" run={reset}>
        <NewPasswordField label="New password" />
      </ActionForm>
      <p className="card-links">
        <Link to="/forgot-password">Send another link</Link>
      </p>
    </CardPage>
  );
}

/** Creates an account with the invited address, or accepts the invitation into the existing one. */
export function Invitation({ title, token }: LinkedPageProps) {
  const { client, identityId } = useSession();
  const { signUp, hasAccount: hasUsedIt, secondStep } = useSignUp();
  const [wantsToSignIn, setWantsToSignIn] = useState(false);
  const [isAccepted, setAccepted] = useState(false);

  async function accept(): Promise<void> {
    await client.api.invitations.accept.mutate({ token });
    setAccepted(true);
  }

  if (isAccepted) return <Done title={title}>You have accepted the invitation.</Done>;
  if (secondStep) return <SecondStep {...secondStep} />;
  if (identityId !== undefined && hasUsedIt) return <Redirect to="/" />;
  if (identityId !== undefined)
    return (
      <CardPage title={title}>
        <p>You are signed in. Accept the invitation with this account?</p>
        <ActionForm action="Accept invitation" run={accept}>
          {null}
        </ActionForm>
      </CardPage>
    );
  if (wantsToSignIn) return <SignIn notice="Sign in to accept the invitation." />;
  return (
    <CardPage title={title}>
      <p>You are invited. Choose a password to make an account.</p>
      <ActionForm action="Create account" run={({ password = '' }) => signUp({ token, password })}>
        <NewPasswordField />
      </ActionForm>
      <p className="card-links">
        <Button className="link" onClick={() => setWantsToSignIn(true)}>
          I have an account
        </Button>
      </p>
    </CardPage>
  );
}
