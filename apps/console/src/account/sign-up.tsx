import { MfaRequiredError, type SignUpInput } from '@tandem/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { CardPage } from './card-page.js';
import { EmailField, NewPasswordField } from './fields.js';
import { ActionForm } from './form.js';
import { ProviderLinks } from './providers.js';
import { SecondStep, type SecondStepProps } from './second-step.js';

/** Creates an account and signs in; `secondStep` is set where one is needed. */
export function useSignUp() {
  const { client, began } = useSession();
  const [secondStep, setSecondStep] = useState<SecondStepProps>();
  const [hasAccount, setHasAccount] = useState(false);

  async function signUp(input: SignUpInput): Promise<void> {
    async function begin(identityId: string): Promise<void> {
      // an invitation proves its address; where the mail fails, the views offer to send it again
      if (!('token' in input)) await client.api.auth.sendVerificationEmail.mutate({ identityId }).catch(() => {});
      began(identityId);
    }
    try {
      const { id } = await client.signUp(input);
      setHasAccount(true);
      await begin(id);
    } catch (error) {
      if (!(error instanceof MfaRequiredError)) throw error;
      setHasAccount(true);
      setSecondStep({ token: error.token, steps: error.factors, onDone: begin, onBack: () => setSecondStep(undefined) });
    }
  }

  return { signUp, hasAccount, secondStep };
}

export function SignUp() {
  const { signUp, secondStep } = useSignUp();
  if (secondStep) return <SecondStep {...secondStep} />;
  return (
    <CardPage title="Create an account">
      <ActionForm action="Create account" run={({ email = '', password = '' }) => signUp({ email, password })}>
        <EmailField />
        <NewPasswordField />
      </ActionForm>
      <ProviderLinks purpose="oauth-signup" />
      <p className="card-links">
        <Link to="/">I have an account</Link>
      </p>
    </CardPage>
  );
}
