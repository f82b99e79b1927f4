import { describeFailure, queryOf, rowsOf, type RouterOutputs } from '@tandem/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useIdentityId, useSession } from '../session/session.js';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Failure, Good, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { linkTo } from '../ui/link-to.js';
import { useTitle } from '../ui/title.js';
import { deviceName } from './device-name.js';
import { put, t } from '../texts/texts.js';

type Session = RouterOutputs['auth']['sessions']['data'][number];

/** Most sessions shown: newest first. */
const SHOWN = 100;

/** The sessions of the signed-in identity, which can be ended one by one, or all others at once. */
export function SessionsView() {
  useTitle(t('security.sessions.title'));
  const { client } = useSession();
  const identityId = useIdentityId();
  const queries = useQueryClient();
  const queryKey = ['sessions', identityId];
  const { parameters } = queryOf('auth.sessions').orderBy('lastUsedAt', 'desc').top(SHOWN);
  const sessions = useQuery({
    queryKey,
    queryFn: async () => rowsOf(await client.api.auth.sessions.query({ identityId, ...parameters }), parameters).value,
  });
  const { data } = sessions;

  const ending = useMutation({
    async mutationFn(sessionIds: readonly string[]) {
      const ends = sessionIds.map((sessionId) => client.api.auth.deleteSession.mutate({ identityId, sessionId }));
      for (const end of await Promise.allSettled(ends))
        // a session that has already ended is the goal
        if (end.status === 'rejected' && describeFailure(end.reason).status !== 404) throw end.reason;
    },
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });

  const others = data?.filter(({ isCurrent }) => !isCurrent) ?? [];
  return (
    <>
      <header className="view-head">
        <h1>{t('security.sessions.title')}</h1>
        <Button isOff={others.length === 0 || ending.isPending} onClick={() => ending.mutate(others.map(({ id }) => id))}>
          {t('security.sessions.endOthers')}
        </Button>
      </header>
      <p className="lead">{t.rich('security.sessions.lead', { link: linkTo('/forgot-password') })}</p>
      <QueryFailure of={[sessions]} />
      <Failure of={ending.error} />
      {ending.isSuccess && !ending.isPending && <Good>{t('security.sessions.ended')}</Good>}
      {!data && !sessions.error && <Loading what={t('security.loading.sessions')} />}
      {data && (
        <ul className="rows" aria-label={t('security.sessions.title')}>
          {data.map((session) => (
            <Entry key={session.id} of={session}>
              <Row session={session} isBusy={ending.isPending} onEnd={() => ending.mutate([session.id])} />
            </Entry>
          ))}
        </ul>
      )}
    </>
  );
}

function Row({ session, isBusy, onEnd }: { session: Session; isBusy: boolean; onEnd(): void }) {
  const { userAgent, ip, createdAt, lastUsedAt, isCurrent } = session;
  const device = deviceName(userAgent);
  return (
    <li className="row">
      <div className="row-main">
        <p className="row-title">
          {device} {isCurrent && <span className="tag">{t('security.sessions.this')}</span>}
        </p>
        <p className="row-more">
          {ip} · {t.rich('security.sessions.lastUsed', { time: put(<Time at={lastUsedAt} />) })} ·{' '}
          {t.rich('security.sessions.signedIn', { time: put(<Time at={createdAt} />) })}
        </p>
      </div>
      {!isCurrent && (
        <Button isOff={isBusy} aria-label={t('security.sessions.endOne', { device })} onClick={onEnd}>
          {t('security.sessions.end')}
        </Button>
      )}
    </li>
  );
}
