import type { RouterOutputs } from '@tandem/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMe } from '../session/me.js';
import { useIdentityId, useSession } from '../session/session.js';
import { deviceName } from '../sessions/device-name.js';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { Empty, Failure, Good, Loading, Note } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { AddApp, type NewApp } from './add-app.js';
import { factorsQuery } from './factors.js';
import { usePasskeys } from './passkeys.js';
import { useWithProof } from './proof.js';
import { RecoveryCodes } from './recovery-codes.js';

type Factor = RouterOutputs['auth']['factors']['data'][number];

const KINDS = { totp: 'authenticator app', passkey: 'passkey' } as const;
/** Fewer recovery codes than these are worth a word. */
const FEW_CODES = 4;

/** The second factors of the signed-in identity. */
export function SecurityView() {
  useTitle('Security');
  const { client, settings } = useSession();
  const { auth } = client.api;
  const identityId = useIdentityId();
  const email = useMe().data?.email ?? '';
  const queries = useQueryClient();
  const passkeys = usePasskeys();
  const query = factorsQuery(client, identityId);
  const factors = useQuery(query);
  const { data } = factors;
  const [app, setApp] = useState<NewApp>();
  const [codes, setCodes] = useState<readonly string[]>();
  const [done, setDone] = useState<string>();
  const withProof = useWithProof();
  const again = () => queries.invalidateQueries(query);

  const change = useMutation({
    mutationFn: async (run: () => Promise<string | undefined>) => {
      setDone(undefined);
      setDone((await withProof(run)) ?? undefined);
    },
    onSettled: again,
  });
  const isBusy = change.isPending;

  const addApp = () =>
    change.mutate(async () => {
      setApp(await auth.addTotp.mutate({ identityId }));
      return undefined;
    });
  const addPasskey = () =>
    change.mutate(async () => {
      await passkeys?.add({ identityId, name: `Passkey of ${deviceName(navigator.userAgent)}` });
      return 'Your passkey was added.';
    });
  const newCodes = () =>
    change.mutate(async () => {
      setCodes((await auth.renewRecoveryCodes.mutate({ identityId })).codes);
      return undefined;
    });
  const remove = ({ id: factorId, name }: Factor) =>
    change.mutate(async () => {
      await auth.deleteFactor.mutate({ identityId, factorId });
      return `${name} was removed.`;
    });

  const list = data?.data ?? [];
  const left = data?.recoveryCodesLeft ?? 0;
  return (
    <>
      <header className="view-head">
        <h1>Security</h1>
      </header>
      <p className="lead">
        A second factor keeps your account yours, even if somebody learns your password: an app on your phone that shows a code,
        or a passkey of this device, which also signs you in without the password.
      </p>
      <QueryFailure of={[factors]} />
      <Failure of={change.error} />
      {done !== undefined && <Good>{done}</Good>}
      {!data && !factors.error && <Loading what="your factors" />}
      {data && (
        <section className="panel" aria-label="Second factors">
          <div className="section-head">
            <h2>Second factors</h2>
            <div className="section-actions">
              <Button isOff={isBusy} onClick={addApp}>
                Add an authenticator app
              </Button>
              {settings.passkeys && passkeys?.areSupported && (
                <Button isOff={isBusy} onClick={addPasskey}>
                  Add a passkey
                </Button>
              )}
            </div>
          </div>
          {list.length === 0 && <Empty title="You have none yet">Your password alone signs you in.</Empty>}
          {list.length > 0 && (
            <ul className="rows" aria-label="Your factors">
              {list.map((factor) => (
                <Entry key={factor.id} of={factor}>
                  <Row factor={factor} isBusy={isBusy} onRemove={() => remove(factor)} />
                </Entry>
              ))}
            </ul>
          )}
        </section>
      )}
      {list.length > 0 && (
        <section className="panel" aria-label="Recovery codes">
          <div className="section-head">
            <h2>Recovery codes</h2>
            <Button isOff={isBusy} onClick={newCodes}>
              {left === 0 ? 'Make recovery codes' : 'Make new ones'}
            </Button>
          </div>
          {left === 0 && (
            <Note>Without recovery codes, you need an admin’s help when you have lost your phone or passkey. Print some.</Note>
          )}
          {left > 0 && (
            <p>
              {left} of 10 left{left < FEW_CODES && ': it is time for new ones'}. New ones make the present ones useless.
            </p>
          )}
        </section>
      )}
      {app && (
        <AddApp
          app={app}
          withProof={withProof}
          onClose={() => setApp(undefined)}
          onDone={() => {
            setApp(undefined);
            setDone('Your authenticator app was added.');
            void again();
          }}
        />
      )}
      {codes && <RecoveryCodes codes={codes} email={email} onClose={() => setCodes(undefined)} />}
    </>
  );
}

function Row({ factor, isBusy, onRemove }: { factor: Factor; isBusy: boolean; onRemove(): void }) {
  const { name, type, createdAt, lastUsedAt } = factor;
  const [isSure, setSure] = useState(false);
  return (
    <li className="row">
      <div className="row-main">
        <p className="row-title">
          {name} {name.toLowerCase() !== KINDS[type] && <span className="tag tag-plain">{KINDS[type]}</span>}
        </p>
        <p className="row-more">
          added <Time at={createdAt} /> · {lastUsedAt === null ? 'never used' : 'last used '}
          {lastUsedAt !== null && <Time at={lastUsedAt} />}
        </p>
      </div>
      <Button isOff={isBusy} aria-label={`Remove ${name}`} onClick={() => setSure(true)}>
        Remove
      </Button>
      {isSure && (
        <Confirm title={`Remove ${name}?`} action="Remove" onConfirm={onRemove} onClose={() => setSure(false)}>
          <p>It no longer signs you in. With the last factor, your recovery codes become useless too.</p>
        </Confirm>
      )}
    </li>
  );
}
