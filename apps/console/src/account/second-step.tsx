import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Field } from '../ui/field.js';
import { Failure, Good } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { ActionForm } from './form.js';

/** The code sent by mail. */
export function SecondStep({ token: first, onBack }: { token: string; onBack(): void }) {
  const { client, began } = useSession();
  const [token, setToken] = useState(first);
  const resend = useMutation({ mutationFn: () => client.resendMfa(token), onSuccess: setToken });

  return (
    <CardPage title="Check your mail">
      <p>We have sent you a six-digit code. It is valid for five minutes.</p>
      <ActionForm action="Go on" run={async ({ code = '' }) => began((await client.verifyMfa({ token, code: code.trim() })).id)}>
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
        <button type="button" className="link" onClick={() => resend.mutate()} disabled={resend.isPending}>
          Send another code
        </button>
        <button type="button" className="link" onClick={onBack}>
          Back
        </button>
      </p>
    </CardPage>
  );
}
