import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Failure, Good } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { ActionForm } from './form.js';

export interface SecondStepProps {
  token: string;
  /** Called with the id of the identity that is now signed in. */
  onDone(identityId: string): void | Promise<void>;
  onBack(): void;
}

/** The code sent by mail. */
export function SecondStep({ token: first, onDone, onBack }: SecondStepProps) {
  const { client } = useSession();
  const [token, setToken] = useState(first);
  const resend = useMutation({ mutationFn: () => client.resendMfa(token), onSuccess: setToken });

  return (
    <CardPage title="Check your mail">
      <p>We have sent you a six-digit code. It is valid for five minutes.</p>
      <ActionForm action="Go on" run={async ({ code = '' }) => onDone((await client.verifyMfa({ token, code: code.trim() })).id)}>
        <Field
          label="Code"
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="\s*[0-9]{6}\s*"
          required
          autoFocus
        />
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
