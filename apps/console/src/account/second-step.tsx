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
    <CardPage title="Check your mail">
      <p>We have sent you a six-digit code. It is valid for five minutes.</p>
      <ActionForm action="Go on" run={async ({ code = '' }) => onDone((await client.verifyMfa({ token, code: code.trim() })).id)}>
        <SixDigits label="Code" />
      </ActionForm>
      {resend.isSuccess && <Good>Another code is on its way; the previous one is no longer valid.</Good>}
      <Failure of={resend.error} />
      <p className="card-links">
        <Button className="link" isOff={resend.isPending} onClick={() => resend.mutate()}>
          Send another code
        </Button>
        <Button className="link" onClick={onBack}>
          Back
        </Button>
      </p>
    </CardPage>
  );
}

const TITLES: Readonly<Record<Step, string>> = {
  totp: 'Your code, please',
  passkey: 'Your passkey, please',
  recovery: 'A recovery code, please',
};
const OTHERS: Readonly<Record<Step, string>> = {
  totp: 'Use the authenticator app',
  passkey: 'Use a passkey',
  recovery: 'Use a recovery code',
};

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
    <CardPage title={TITLES[step]}>
      {step === 'totp' && (
        <ActionForm key={step} action="Go on" run={byCode}>
          <SixDigits label="The code that your authenticator app shows" />
        </ActionForm>
      )}
      {step === 'recovery' && (
        <ActionForm key={step} action="Go on" run={byCode}>
          <Field label="One of your recovery codes" name="code" autoComplete="off" required autoFocus hint="Each works once." />
        </ActionForm>
      )}
      {step === 'passkey' && (
        <>
          <p>Your browser will ask you for it.</p>
          <Failure of={byPasskey.error} />
          <Button className="primary" isOff={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
            Go on
          </Button>
        </>
      )}
      <p className="card-links">
        {possible
          .filter((other) => other !== step)
          .map((other) => (
            <Button key={other} className="link" onClick={() => setChosen(other)}>
              {OTHERS[other]}
            </Button>
          ))}
        <Button className="link" onClick={onBack}>
          Back
        </Button>
      </p>
    </CardPage>
  );
}
