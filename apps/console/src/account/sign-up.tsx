import { MfaRequiredError, type SignUpInput, type TandemClient } from '@tandem/client';
import { useState } from 'react';
import { Link } from 'wouter';
import { useSession } from '../session/session.js';
import { CardPage } from './card-page.js';
import { EmailField, NewPasswordField } from './fields.js';
import { ActionForm } from './form.js';
import { SecondStep } from './second-step.js';

/** Creates an account and signs in; `challenge` is set where a second step is needed. */
export function useSignUp() {
  const { client, began } = useSession();
  const [challenge, setChallenge] = useState<string>();
  const [hasAccount, setHasAccount] = useState(false);

  async function signUp(input: SignUpInput): Promise<void> {
    try {
      const { id } = await client.signUp(input);
      // the account exists even if the mail fails: it can be requested again
      if (!('token' in input)) await sendVerification(client, id).catch(() => {});
      setHasAccount(true);
      began(id);
    } catch (error) {
      if (!(error instanceof MfaRequiredError)) throw error;
      setHasAccount(true);
      setChallenge(error.token);
    }
  }

  return { signUp, hasAccount, challenge, back: () => setChallenge(undefined) };
}

function sendVerification({ api }: TandemClient, identityId: string): Promise<void> {
  return api.auth.sendVerificationEmail.mutate({ identityId });
}

export function SignUp() {
  const { signUp, challenge, back } = useSignUp();
  if (challenge !== undefined) return <SecondStep token={challenge} onBack={back} />;
  return (
    <CardPage title="Create an account">
      <ActionForm action="Create account" run={({ email = '', password = '' }) => signUp({ email, password })}>
        <EmailField />
        <NewPasswordField />
      </ActionForm>
      <p className="card-links">
        <Link href="/">I have an account</Link>
      </p>
    </CardPage>
  );
}
