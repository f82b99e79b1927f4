import { MfaRequiredError } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePasskeys } from '../security/passkeys.js';
import { useSession, type Ending } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Failure, Good, Note } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { EmailField } from './fields.js';
import { ActionForm } from './form.js';
import { ProviderLinks } from './providers.js';
import { SecondStep } from './second-step.js';

const ENDINGS: Readonly<Record<Ending, string>> = {
  ended: 'Your session has ended. Please sign in again.',
  untold:
    'You are signed out here, but the server could not be reached to end the session. To end it, sign in again and go to Sessions.',
};

/** Email and password, and the code of the second step where the server requires one. */
export function SignIn({ notice }: { notice?: string }) {
  const { client, ending, began } = useSession();
  const passkeys = usePasskeys();
  const byPasskey = useMutation({ mutationFn: async () => passkeys && began((await passkeys.signIn()).id) });
  const [challenge, setChallenge] = useState<MfaRequiredError>();

  async function signIn({ email = '', password = '' }: Record<string, string>): Promise<void> {
    try {
      began((await client.signIn({ email, password })).id);
    } catch (error) {
      if (!(error instanceof MfaRequiredError)) throw error;
      setChallenge(error);
    }
  }

  if (challenge !== undefined)
    return <SecondStep token={challenge.token} steps={challenge.factors} onDone={began} onBack={() => setChallenge(undefined)} />;
  return (
    <CardPage title="Sign in">
      {ending && <Note>{ENDINGS[ending]}</Note>}
      {notice !== undefined && <Good>{notice}</Good>}
      <ActionForm action="Sign in" run={signIn}>
        <EmailField />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
      </ActionForm>
      {passkeys?.areSupported && (
        <>
          <Failure of={byPasskey.error} />
          <Button isOff={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
            Sign in with a passkey
          </Button>
        </>
      )}
      <ProviderLinks purpose="oauth-login" />
      <p className="card-links">
        <Link to="/forgot-password">Forgot your password?</Link>
        <Link to="/sign-up">Create an account</Link>
      </p>
    </CardPage>
  );
}
