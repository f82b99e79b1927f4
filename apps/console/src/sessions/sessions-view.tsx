import { describeFailure, queryOf, rowsOf } from '@tandem/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useIdentityId, useSession } from '../session/session.js';
import { Failure, Good, Loading } from '../ui/notices.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { deviceName } from './device-name.js';

/** Most sessions shown: newest first. */
const SHOWN = 100;

/** The sessions of the signed-in identity, which can be ended one by one, or all others at once. */
export function SessionsView() {
  useTitle('Sessions');
  const { client } = useSession();
  const identityId = useIdentityId();
  const queries = useQueryClient();
  const queryKey = ['sessions', identityId];
  const { parameters } = queryOf('auth.sessions').orderBy('lastUsedAt', 'desc').top(SHOWN);
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: async () => rowsOf(await client.api.auth.sessions.query({ identityId, ...parameters }), parameters).value,
  });

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
        <h1>Sessions</h1>
        <button
          type="button"
          disabled={others.length === 0 || ending.isPending}
          onClick={() => ending.mutate(others.map(({ id }) => id))}
        >
          Sign out all others
        </button>
      </header>
      <p className="lead">
        Each place where you are signed in. One that you do not know? End it, and{' '}
        <Link href="/forgot-password">choose another password</Link>.
      </p>
      <Failure of={error ?? ending.error} retry={error ? () => void refetch() : undefined} />
      {ending.isSuccess && !ending.isPending && <Good>Signed out.</Good>}
      {!data && !error && <Loading what="sessions" />}
      {data && (
        <ul className="rows" aria-label="Sessions">
          {data.map(({ id, userAgent, ip, createdAt, lastUsedAt, isCurrent }) => (
            <li key={id} className="row">
              <div className="row-main">
                <p className="row-title">
                  {deviceName(userAgent)} {isCurrent && <span className="tag">this device</span>}
                </p>
                <p className="row-more">
                  {ip} · last used <Time at={lastUsedAt} /> · signed in <Time at={createdAt} />
                </p>
              </div>
              {!isCurrent && (
                <button
                  type="button"
                  disabled={ending.isPending}
                  aria-label={`Sign out ${deviceName(userAgent)}`}
                  onClick={() => ending.mutate([id])}
                >
                  Sign out
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
