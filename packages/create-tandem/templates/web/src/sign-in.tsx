import { MfaRequiredError } from '@tandem/client';
import { useSession } from '@tandem/react';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Failure } from './failure.js';

function fieldsOf(event: FormEvent<HTMLFormElement>): Record<string, string> {
  event.preventDefault();
  return Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
}

/** Signs in, or up. */
export function SignIn() {
  const { signIn, signUp, hasEnded } = useSession();
  const [isNew, setNew] = useState(false);
  const entering = useMutation({ mutationFn: isNew ? signUp : signIn });
  if (entering.error instanceof MfaRequiredError) return <SecondStep challenge={entering.error} />;

  return (
    <main className="card">
      <h1>{isNew ? 'Create an account' : 'Sign in'}</h1>
      {hasEnded && <p>Your session has ended. Please sign in again.</p>}
      <form
        onSubmit={(event) => {
          const { email = '', password = '' } = fieldsOf(event);
          entering.mutate({ email, password });
        }}
      >
        <label>
          Email
          <input name="email" type="email" required autoComplete="username" />
        </label>
        <label>
          Password
          <input name="password" type="password" required autoComplete={isNew ? 'new-password' : 'current-password'} />
        </label>
        <Failure of={entering.error} />
        <button type="submit" className="primary" disabled={entering.isPending}>
          {isNew ? 'Create account' : 'Sign in'}
        </button>
      </form>
      <button type="button" className="link" onClick={() => setNew(!isNew)}>
        {isNew ? 'I have an account' : 'I have no account yet'}
      </button>
    </main>
  );
}

/** Asks for a factor of the person's own; or for the code of a mail, which is sent to those without one. */
function SecondStep({ challenge: { token, factors } }: { challenge: MfaRequiredError }) {
  const { verifyMfa, verifyMfaByPasskey } = useSession();
  const byCode = useMutation({ mutationFn: verifyMfa });
  const byPasskey = useMutation({ mutationFn: verifyMfaByPasskey });
  const isMailed = factors.length === 0;
  const ofFactor = factors.includes('totp') ? 'The code of your authenticator app, or a recovery code' : 'A recovery code';
  return (
    <main className="card">
      <h1>{isMailed ? 'Check your mail' : 'One more step'}</h1>
      {factors.includes('passkey') && (
        <>
          <Failure of={byPasskey.error} />
          <button type="button" className="primary" disabled={byPasskey.isPending} onClick={() => byPasskey.mutate(token)}>
            Use a passkey
          </button>
        </>
      )}
      {(isMailed || factors.some((factor) => factor !== 'passkey')) && (
        <form
          onSubmit={(event) => {
            const { code = '' } = fieldsOf(event);
            byCode.mutate({ token, code });
          }}
        >
          <label>
            {isMailed ? 'The code that we have sent you' : ofFactor}
            <input name="code" required inputMode={isMailed ? 'numeric' : 'text'} autoComplete="one-time-code" />
          </label>
          <Failure of={byCode.error} />
          <button type="submit" className="primary" disabled={byCode.isPending}>
            Sign in
          </button>
        </form>
      )}
    </main>
  );
}
