import { useInfiniteTandemList, useSession, useTandemMutation } from '@tandem/react';
import { Failure } from './failure.js';

const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A browser and its system, such as `Firefox on Linux`. */
function deviceName(userAgent: string): string {
  // browsers also give the names of others: the own name of each comes first here
  const browser = ['Firefox', 'Edg', 'Chrome', 'Safari'].find((name) => userAgent.includes(name)) ?? 'Unknown device';
  const system = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS X', 'Linux'].find((name) => userAgent.includes(name));
  return system === undefined ? browser : `${browser === 'Edg' ? 'Edge' : browser} on ${system}`;
}

/** Where one is signed in: a list that grows page by page, with an action on each row. */
export function Sessions() {
  const { identityId = '' } = useSession();
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteTandemList('auth.sessions', { identityId });
  const ending = useTandemMutation('auth.deleteSession', { invalidates: ['auth.sessions'] });
  return (
    <main className="page">
      <h1>Where you are signed in</h1>
      <Failure of={error ?? ending.error} />
      <ul className="rows">
        {data?.rows.map(({ id, userAgent, lastUsedAt, isCurrent }) => (
          <li key={id}>
            <div>
              <strong>{deviceName(userAgent)}</strong>
              <p>
                Last used <time dateTime={lastUsedAt}>{time.format(new Date(lastUsedAt))}</time>
                {isCurrent && ' · this device'}
              </p>
            </div>
            {!isCurrent && (
              <button type="button" disabled={ending.isPending} onClick={() => ending.mutate({ identityId, sessionId: id })}>
                End
              </button>
            )}
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
    </main>
  );
}
