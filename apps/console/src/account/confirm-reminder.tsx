import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Me } from '../session/me.js';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Failure } from '../ui/notices.js';

/** Says that the address is not confirmed, and sends the link again. */
export function ConfirmReminder({ me: { id: identityId, email, emailVerified } }: { me: Me }) {
  const { client } = useSession();
  const [isHidden, setHidden] = useState(false);
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => client.api.auth.sendVerificationEmail.mutate({ identityId }),
  });
  if (emailVerified || isHidden) return null;
  return (
    <section className="notice notice-plain" aria-label="Your email address">
      <output>{isSuccess ? `The link is on its way to ${email}.` : 'Your email address is not confirmed yet.'}</output>
      <p className="notice-actions">
        <Button className="link" isOff={isPending} onClick={() => mutate()}>
          Mail me the link
        </Button>
        <Button className="link" onClick={() => setHidden(true)}>
          Later
        </Button>
      </p>
      <Failure of={error} />
    </section>
  );
}
