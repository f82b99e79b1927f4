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
import { put, t } from '../texts/texts.js';

type Factor = RouterOutputs['auth']['factors']['data'][number];

const KINDS = { totp: 'security.factors.app', passkey: 'security.factors.passkey' } as const;
/** Fewer recovery codes than these are worth a word. */
const FEW_CODES = 4;

/** The second factors of the signed-in identity. */
export function SecurityView() {
  useTitle(t('security.title'));
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
      await passkeys?.add({ identityId, name: t('security.factors.passkeyOf', { device: deviceName(navigator.userAgent) }) });
      return t('security.factors.passkeyAdded');
    });
  const newCodes = () =>
    change.mutate(async () => {
      setCodes((await auth.renewRecoveryCodes.mutate({ identityId })).codes);
      return undefined;
    });
  const remove = ({ id: factorId, name }: Factor) =>
    change.mutate(async () => {
      await auth.deleteFactor.mutate({ identityId, factorId });
      return t('security.factors.removed', { name });
    });

  const list = data?.data ?? [];
  const left = data?.recoveryCodesLeft ?? 0;
  return (
    <>
      <header className="view-head">
        <h1>{t('security.title')}</h1>
      </header>
      <p className="lead">{t('security.lead')}</p>
      <QueryFailure of={[factors]} />
      <Failure of={change.error} />
      {done !== undefined && <Good>{done}</Good>}
      {!data && !factors.error && <Loading what={t('security.loading.factors')} />}
      {data && (
        <section className="panel" aria-label={t('security.factors.title')}>
          <div className="section-head">
            <h2>{t('security.factors.title')}</h2>
            <div className="section-actions">
              <Button isOff={isBusy} onClick={addApp}>
                {t('security.factors.addApp')}
              </Button>
              {settings.passkeys && passkeys?.areSupported && (
                <Button isOff={isBusy} onClick={addPasskey}>
                  {t('security.factors.addPasskey')}
                </Button>
              )}
            </div>
          </div>
          {list.length === 0 && <Empty title={t('security.factors.none')}>{t('security.factors.noneWhy')}</Empty>}
          {list.length > 0 && (
            <ul className="rows" aria-label={t('security.factors.yours')}>
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
        <section className="panel" aria-label={t('security.recovery.title')}>
          <div className="section-head">
            <h2>{t('security.recovery.title')}</h2>
            <Button isOff={isBusy} onClick={newCodes}>
              {t(left === 0 ? 'security.recovery.make' : 'security.recovery.makeNew')}
            </Button>
          </div>
          {left === 0 && <Note>{t('security.recovery.none')}</Note>}
          {left > 0 && <p>{t(left < FEW_CODES ? 'security.recovery.few' : 'security.recovery.left', { left })}</p>}
        </section>
      )}
      {app && (
        <AddApp
          app={app}
          withProof={withProof}
          onClose={() => setApp(undefined)}
          onDone={() => {
            setApp(undefined);
            setDone(t('security.factors.appAdded'));
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
          {name} {name.toLowerCase() !== t(KINDS[type]) && <span className="tag tag-plain">{t(KINDS[type])}</span>}
        </p>
        <p className="row-more">
          {t.rich('security.factors.added', { time: put(<Time at={createdAt} />) })} ·{' '}
          {lastUsedAt === null
            ? t('security.factors.neverUsed')
            : t.rich('security.factors.lastUsed', { time: put(<Time at={lastUsedAt} />) })}
        </p>
      </div>
      <Button isOff={isBusy} aria-label={t('security.factors.removeOne', { name })} onClick={() => setSure(true)}>
        {t('ui.remove')}
      </Button>
      {isSure && (
        <Confirm
          title={t('security.factors.removeSure', { name })}
          action={t('ui.remove')}
          onConfirm={onRemove}
          onClose={() => setSure(false)}
        >
          <p>{t('security.factors.removeWhat')}</p>
        </Confirm>
      )}
    </li>
  );
}
