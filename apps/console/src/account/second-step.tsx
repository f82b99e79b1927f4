import type { SecondStep as Step } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { usePasskeys } from '../security/passkeys.js';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Failure, Good } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { SixDigits } from './fields.js';
import { ActionForm } from './form.js';
import { t } from '../texts/texts.js';

export interface SecondStepProps {
  token: string;
  /** What can follow; nothing where a code was sent by mail. */
  steps: readonly Step[];
  /** Called with the id of the identity that is now signed in. */
  onDone(identityId: string): void | Promise<void>;
  onBack(): void;
}

/** What follows the password: a factor, or the code sent by mail. */
export function SecondStep(props: SecondStepProps) {
  return props.steps.length > 0 ? <FactorStep {...props} /> : <MailedCode {...props} />;
}

function MailedCode({ token: first, onDone, onBack }: SecondStepProps) {
  const { client } = useSession();
  const [token, setToken] = useState(first);
  const resend = useMutation({ mutationFn: () => client.resendMfa(token), onSuccess: setToken });

  return (
    <CardPage title={t('account.mailed.title')}>
      <p>{t('account.mailed.text')}</p>
      <ActionForm
        action={t('ui.goOn')}
        run={async ({ code = '' }) => onDone((await client.verifyMfa({ token, code: code.trim() })).id)}
      >
        <SixDigits label={t('account.mailed.code')} />
      </ActionForm>
      {resend.isSuccess && <Good>{t('account.mailed.resent')}</Good>}
      <Failure of={resend.error} />
      <p className="card-links">
        <Button className="link" isOff={resend.isPending} onClick={() => resend.mutate()}>
          {t('account.mailed.resend')}
        </Button>
        <Button className="link" onClick={onBack}>
          {t('ui.back')}
        </Button>
      </p>
    </CardPage>
  );
}

const OTHERS = { totp: 'useTotp', passkey: 'usePasskey', recovery: 'useRecovery' } as const;

function FactorStep({ token, steps, onDone, onBack }: SecondStepProps) {
  const { client } = useSession();
  const passkeys = usePasskeys();
  const possible = steps.filter((step) => step !== 'passkey' || passkeys?.areSupported === true);
  const [chosen, setChosen] = useState<Step>();
  const step = chosen ?? possible[0] ?? 'recovery';
  const byPasskey = useMutation({ mutationFn: async () => passkeys && onDone((await passkeys.verifyMfa(token)).id) });
  const byCode = async ({ code = '' }: Record<string, string>) =>
    onDone((await client.verifyMfa({ token, code: code.replaceAll(/\s/g, '') })).id);

  return (
    <CardPage title={t(`account.factor.${step}`)}>
      {step === 'totp' && (
        <ActionForm key={step} action={t('ui.goOn')} run={byCode}>
          <SixDigits label={t('account.factor.totpCode')} />
        </ActionForm>
      )}
      {step === 'recovery' && (
        <ActionForm key={step} action={t('ui.goOn')} run={byCode}>
          <Field
            label={t('account.factor.recoveryCode')}
            name="code"
            autoComplete="off"
            required
            autoFocus
            hint={t('account.factor.once')}
          />
        </ActionForm>
      )}
      {step === 'passkey' && (
        <>
          <p>{t('account.factor.browserAsks')}</p>
          <Failure of={byPasskey.error} />
          <Button className="primary" isOff={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
            {t('ui.goOn')}
          </Button>
        </>
      )}
      <p className="card-links">
        {possible
          .filter((other) => other !== step)
          .map((other) => (
            <Button key={other} className="link" onClick={() => setChosen(other)}>
              {t(`account.factor.${OTHERS[other]}`)}
            </Button>
          ))}
        <Button className="link" onClick={onBack}>
          {t('ui.back')}
        </Button>
      </p>
    </CardPage>
  );
}
