import { MfaRequiredError, type SignUpInput } from '@tandem/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Redirect } from '../ui/redirect.js';
import { CardPage } from './card-page.js';
import { EmailField, NewPasswordField } from './fields.js';
import { ActionForm } from './form.js';
import { ProviderLinks } from './providers.js';
import { SecondStep, type SecondStepProps } from './second-step.js';
import { t } from '../texts/texts.js';

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
  const { identityId } = useSession();
  const { signUp, secondStep } = useSignUp();
  if (identityId !== undefined) return <Redirect to="/" />;
  if (secondStep) return <SecondStep {...secondStep} />;
  return (
    <CardPage title={t('account.signUp')}>
      <ActionForm action={t('links.create')} run={({ email = '', password = '' }) => signUp({ email, password })}>
        <EmailField />
        <NewPasswordField />
      </ActionForm>
      <ProviderLinks purpose="oauth-signup" />
      <p className="card-links">
        <Link to="/">{t('links.hasAccount')}</Link>
      </p>
    </CardPage>
  );
}
