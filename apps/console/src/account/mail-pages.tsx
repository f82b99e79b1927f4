import { describeFailure } from '@tandem/client';
import { useEffect, useState } from 'react';
import { Link, Redirect } from 'wouter';
import { useSession } from '../session/session.js';
import { Good } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { NewPasswordField } from './fields.js';
import { ActionForm } from './form.js';
import { SecondStep } from './second-step.js';
import { SignIn } from './sign-in.js';
import { useSignUp } from './sign-up.js';

/**
 * The token of the link. It is removed from the address at once, so that it stays out of copied URLs and the history.
 */
function useLinkToken(): string {
  const [token] = useState(() => new URLSearchParams(location.search).get('token') ?? '');
  useEffect(() => history.replaceState(null, '', location.pathname), []);
  return token;
}

function Done({ title, children }: { title: string; children: string }) {
  return (
    <CardPage title={title}>
      <Good>{children}</Good>
      <p className="card-links">
        <Link href="/">Continue to Tandem</Link>
      </p>
    </CardPage>
  );
}

/** Mail scanners open links, so opening one changes nothing; the button does. */
export function ConfirmEmail() {
  const { client } = useSession();
  const token = useLinkToken();
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

  if (isDone) return <Done title="Confirm your email">Your email address is confirmed. Thank you.</Done>;
  return (
    <CardPage title="Confirm your email">
      <p>Somebody who made an account with this address asked to confirm it. If that was you, go on.</p>
      <ActionForm action="Confirm email address" run={confirm}>
        {null}
      </ActionForm>
    </CardPage>
  );
}

export function ConfirmNewEmail() {
  const { client } = useSession();
  const token = useLinkToken();
  const [isDone, setDone] = useState(false);

  async function confirm(): Promise<void> {
    await client.api.auth.confirmNewEmail.mutate({ token });
    setDone(true);
  }

  if (isDone) return <Done title="Confirm your new email">Your account has this email address from now on.</Done>;
  return (
    <CardPage title="Confirm your new email">
      <p>Your account is to use this email address from now on. If you asked for that, go on.</p>
      <ActionForm action="Confirm new address" run={confirm}>
        {null}
      </ActionForm>
    </CardPage>
  );
}

export function ResetPassword() {
  const { client } = useSession();
  const token = useLinkToken();
  const [isDone, setDone] = useState(false);

  async function reset({ password = '' }: Record<string, string>): Promise<void> {
    await client.api.auth.resetPassword.mutate({ token, password });
    setDone(true);
  }

  if (isDone)
    return (
      <Done title="Choose a new password">Your password is changed, and every device is signed out. Sign in with it now.</Done>
    );
  return (
    <CardPage title="Choose a new password">
      <ActionForm action="Change password" run={reset}>
        <NewPasswordField label="New password" />
      </ActionForm>
      <p className="card-links">
        <Link href="/forgot-password">Send another link</Link>
      </p>
    </CardPage>
  );
}

/** Creates an account with the invited address, or accepts the invitation into the existing one. */
export function Invitation() {
  const { client, identityId } = useSession();
  const token = useLinkToken();
  const { signUp, hasAccount: hasUsedIt, challenge, back } = useSignUp();
  const [wantsToSignIn, setWantsToSignIn] = useState(false);
  const [isAccepted, setAccepted] = useState(false);

  async function accept(): Promise<void> {
    await client.api.invitations.accept.mutate({ token });
    setAccepted(true);
  }

  if (isAccepted) return <Done title="Your invitation">You have accepted the invitation.</Done>;
  if (challenge !== undefined) return <SecondStep token={challenge} onBack={back} />;
  if (identityId !== undefined && hasUsedIt) return <Redirect to="/" />;
  if (identityId !== undefined)
    return (
      <CardPage title="Your invitation">
        <p>You are signed in. Accept the invitation with this account?</p>
        <ActionForm action="Accept invitation" run={accept}>
          {null}
        </ActionForm>
      </CardPage>
    );
  if (wantsToSignIn) return <SignIn notice="Sign in to accept the invitation." />;
  return (
    <CardPage title="Your invitation">
      <p>You are invited. Choose a password to make an account.</p>
      <ActionForm action="Create account" run={({ password = '' }) => signUp({ token, password })}>
        <NewPasswordField />
      </ActionForm>
      <p className="card-links">
        <button type="button" className="link" onClick={() => setWantsToSignIn(true)}>
          I have an account
        </button>
      </p>
    </CardPage>
  );
}
