import { isError } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { createContext, use, useRef, useState, type ReactNode } from 'react';
import { ActionForm } from '../account/form.js';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Failure } from '../ui/notices.js';
import { factorsQuery } from './factors.js';
import { usePasskeys } from './passkeys.js';
import { t } from '../texts/texts.js';

/** Runs what needs a fresh proof: asks for the proof where the server does, then runs it again. Null when the person gives up. */
export type WithProof = <T>(run: () => Promise<T>) => Promise<T | null>;

const ProofContext = createContext<WithProof | undefined>(undefined);

/** How to run what needs a fresh proof. @throws Error outside its provider */
export function useWithProof(): WithProof {
  const withProof = use(ProofContext);
  if (!withProof) throw new Error('no proof can be asked for here');
  return withProof;
}

/** Asks for a fresh proof wherever the page needs one. */
export function ProofProvider({ children }: { children: ReactNode }) {
  const [isAsking, setAsking] = useState(false);
  /** The question that is asked: its answer is that of all who ask meanwhile. */
  const asked = useRef<{ answer: Promise<boolean>; settle: (isProven: boolean) => void }>(undefined);
  function ask(): Promise<boolean> {
    if (asked.current) return asked.current.answer;
    let settle = (_: boolean) => {};
    const answer = new Promise<boolean>((resolve) => (settle = resolve));
    asked.current = { answer, settle };
    setAsking(true);
    return answer;
  }

  async function withProof<T>(run: () => Promise<T>): Promise<T | null> {
    try {
      return await run();
    } catch (error) {
      if (!isError(error, 'auth.freshProofNeeded')) throw error;
      return (await ask()) ? run() : null;
    }
  }

  function close(isProven: boolean): void {
    asked.current?.settle(isProven);
    asked.current = undefined;
    setAsking(false);
  }

  return (
    <ProofContext value={withProof}>
      {children}
      {isAsking && <ProofDialog onDone={() => close(true)} onClose={() => close(false)} />}
    </ProofContext>
  );
}

interface ProofDialogProps {
  onDone(): void;
  onClose(): void;
}

function ProofDialog({ onDone, onClose }: ProofDialogProps) {
  const { client } = useSession();
  const identityId = useIdentityId();
  const factors = useQuery(factorsQuery(client, identityId));
  const steps = factors.data?.data.map(({ type }) => type) ?? [];
  const passkeys = usePasskeys();
  const [failure, setFailure] = useState<unknown>();
  const [byCode, setByCode] = useState(false);

  async function prove({ password, code }: Record<string, string>): Promise<void> {
    await client.api.auth.prove.mutate({
      identityId,
      ...(password !== undefined && { password }),
      ...(code !== undefined && { code: code.replaceAll(/\s/g, '') }),
    });
    onDone();
  }

  return (
    <Dialog title={t('account.proof.title')} onClose={onClose}>
      <p>{t('account.proof.text')}</p>
      <ActionForm key={String(byCode)} action={t('ui.goOn')} run={prove}>
        {byCode ? (
          <Field label={t('account.mailed.code')} name="code" autoComplete="one-time-code" required autoFocus />
        ) : (
          <Field
            label={t('account.password')}
            name="password"
            type="password"
            autoComplete="current-password"
            required
            autoFocus
          />
        )}
      </ActionForm>
      <Failure of={failure} />
      <p className="card-links">
        {steps.includes('passkey') && passkeys?.areSupported && (
          <Button className="link" onClick={() => void passkeys.prove(identityId).then(onDone, setFailure)}>
            {t('account.factor.usePasskey')}
          </Button>
        )}
        {steps.length > 0 && (
          <Button className="link" onClick={() => setByCode(!byCode)}>
            {t(byCode ? 'account.proof.usePassword' : 'account.proof.useCode')}
          </Button>
        )}
        <Button className="link" onClick={onClose}>
          {t('ui.cancel')}
        </Button>
      </p>
    </Dialog>
  );
}
