import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Good } from '../ui/notices.js';
import { CardPage } from './card-page.js';
import { EmailField } from './fields.js';
import { ActionForm } from './form.js';
import { t } from '../texts/texts.js';

/** Asks for a reset link; does not reveal whether the address has an account. */
export function ForgotPassword() {
  const { client } = useSession();
  const [sentTo, setSentTo] = useState<string>();

  async function send({ email = '' }: Record<string, string>): Promise<void> {
    await client.api.auth.sendResetPasswordLinkEmail.mutate({ email });
    setSentTo(email);
  }

  return (
    <CardPage title={t('links.reset.title')}>
      {sentTo === undefined ? (
        <ActionForm action={t('links.reset.send')} run={send}>
          <EmailField />
        </ActionForm>
      ) : (
        <Good>{t('links.reset.sent', { email: sentTo })}</Good>
      )}
      <p className="card-links">
        <Link to="/">{t('account.signIn')}</Link>
      </p>
    </CardPage>
  );
}
