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
  if (entering.error instanceof MfaRequiredError) return <SecondStep challenge={entering.error.token} />;

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

/** Asks for the code of a mail, where the server wants one. */
function SecondStep({ challenge }: { challenge: string }) {
  const { verifyMfa } = useSession();
  const verifying = useMutation({ mutationFn: verifyMfa });
  return (
    <main className="card">
      <h1>Check your mail</h1>
      <form
        onSubmit={(event) => {
          const { code = '' } = fieldsOf(event);
          verifying.mutate({ token: challenge, code });
        }}
      >
        <label>
          The code that we have sent you
          <input name="code" required inputMode="numeric" autoComplete="one-time-code" />
        </label>
        <Failure of={verifying.error} />
        <button type="submit" className="primary" disabled={verifying.isPending}>
          Sign in
        </button>
      </form>
    </main>
  );
}
