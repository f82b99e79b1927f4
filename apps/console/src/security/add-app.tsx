import type { RouterOutputs } from '@tandem/client';
import { SixDigits } from '../account/fields.js';
import { ActionForm } from '../account/form.js';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import type { WithProof } from './proof.js';
import { QrCode } from './qr-code.js';

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
    <Dialog title="Add an authenticator app" onClose={onClose}>
      <p>Scan this with the app, or type the key into it. Neither is shown again.</p>
      <QrCode text={uri} label="QR code for the authenticator app" />
      <p>
        <code className="secret">{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
      </p>
      <ActionForm action="Add" run={confirm}>
        <SixDigits label="The code that the app shows" />
      </ActionForm>
      <p className="card-links">
        <Button className="link" onClick={onClose}>
          Cancel
        </Button>
      </p>
    </Dialog>
  );
}
