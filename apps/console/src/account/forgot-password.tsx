import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Good } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { EmailField } from './fields.js';
import { ActionForm } from './form.js';

/** Asks for a reset link; does not reveal whether the address has an account. */
export function ForgotPassword() {
  const { client } = useSession();
  const [sentTo, setSentTo] = useState<string>();

  async function send({ email = '' }: Record<string, string>): Promise<void> {
    await client.api.auth.sendResetPasswordLinkEmail.mutate({ email });
    setSentTo(email);
  }

  return (
    <CardPage title="Reset your password">
      {sentTo === undefined ? (
        <ActionForm action="Send a link" run={send}>
          <EmailField />
        </ActionForm>
      ) : (
        <Good>If {sentTo} has an account, a link is on its way. It is valid for half an hour.</Good>
      )}
      <p className="card-links">
        <Link to="/">Sign in</Link>
      </p>
    </CardPage>
  );
}
