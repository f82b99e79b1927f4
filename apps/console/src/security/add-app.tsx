import type { RouterOutputs } from '@tandem/client';
import { SixDigits } from '../account/fields.js';
import { ActionForm } from '../account/form.js';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import type { WithProof } from './proof.js';
import { QrCode } from './qr-code.js';
import { t } from '../texts/texts.js';

export type NewApp = RouterOutputs['auth']['addTotp'];

interface AddAppProps {
  app: NewApp;
  withProof: WithProof;
  onDone(): void;
  onClose(): void;
}

/** The secret of an authenticator app, shown this once, and the code that proves that the app has it. */
export function AddApp({ app: { id: factorId, secret, uri }, withProof, onDone, onClose }: AddAppProps) {
  const { client } = useSession();
  const identityId = useIdentityId();

  async function confirm({ code = '' }: Record<string, string>): Promise<void> {
    const confirmed = await withProof(async () => {
      await client.api.auth.confirmTotp.mutate({ identityId, factorId, code: code.trim() });
      return true;
    });
    if (confirmed) onDone();
  }

  return (
    <Dialog title={t('security.factors.addApp')} onClose={onClose}>
      <p>{t('security.app.text')}</p>
      <QrCode text={uri} label={t('security.app.qrCode')} />
      <p>
        <code className="secret">{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
      </p>
      <ActionForm action={t('ui.add')} run={confirm}>
        <SixDigits label={t('security.app.code')} />
      </ActionForm>
      <p className="card-links">
        <Button className="link" onClick={onClose}>
          {t('ui.cancel')}
        </Button>
      </p>
    </Dialog>
  );
}
