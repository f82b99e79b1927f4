import { MfaRequiredError } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePasskeys } from '../security/passkeys.js';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Failure, Good, Note } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { EmailField } from './fields.js';
import { ActionForm } from './form.js';
import { ProviderLinks } from './providers.js';
import { SecondStep } from './second-step.js';
import { t } from '../texts/texts.js';

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
    <CardPage title={t('account.signIn')}>
      {ending && <Note>{t(`account.${ending}`)}</Note>}
      {notice !== undefined && <Good>{notice}</Good>}
      <ActionForm action={t('account.signIn')} run={signIn}>
        <EmailField />
        <Field label={t('account.password')} name="password" type="password" autoComplete="current-password" required />
      </ActionForm>
      {passkeys?.areSupported && (
        <>
          <Failure of={byPasskey.error} />
          <Button isOff={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
            {t('account.signInByPasskey')}
          </Button>
        </>
      )}
      <ProviderLinks purpose="oauth-login" />
      <p className="card-links">
        <Link to="/forgot-password">{t('account.forgot')}</Link>
        <Link to="/sign-up">{t('account.signUp')}</Link>
      </p>
    </CardPage>
  );
}
