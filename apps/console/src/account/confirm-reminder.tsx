import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Me } from '../session/me.js';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Failure } from '../ui/notices.js';
import { t } from '../texts/texts.js';

/** Says that the address is not confirmed, and sends the link again. */
export function ConfirmReminder({ me: { id: identityId, email, emailVerified } }: { me: Me }) {
  const { client } = useSession();
  const [isHidden, setHidden] = useState(false);
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => client.api.auth.sendVerificationEmail.mutate({ identityId }),
  });
  if (emailVerified || isHidden) return null;
  return (
    <section className="notice notice-plain" aria-label={t('account.reminder.label')}>
      <output>{isSuccess ? t('account.reminder.sent', { email }) : t('account.reminder.text')}</output>
      <p className="notice-actions">
        <Button className="link" isOff={isPending} onClick={() => mutate()}>
          {t('account.reminder.send')}
        </Button>
        <Button className="link" onClick={() => setHidden(true)}>
          {t('account.reminder.later')}
        </Button>
      </p>
      <Failure of={error} />
    </section>
  );
}
