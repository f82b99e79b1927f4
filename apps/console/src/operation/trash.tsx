import { useInfiniteQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { useAct } from '../records/acts.js';
import { useDefinitions } from '../records/definitions.js';
import { inWords, titleOf } from '../records/words.js';

const PAGE = 200;

/** What was deleted and can be restored, the latest first: read from the events, which are kept for a while. */
export function TrashPage() {
  useTitle('Trash');
  const { client } = useSession();
  const { kinds } = useDefinitions();
  const act = useAct();
  const restorable = kinds.filter(({ restore }) => restore !== undefined);
  const nameOf = (param: string) => param.replace(/Id$/, '');
  const types = restorable.flatMap(({ param }) => ['deleted', 'restored'].map((what) => `${nameOf(param)}.${what}`)).join(',');
  const feed = useInfiniteQuery({
    queryKey: ['tandem', 'events', 'trash', types],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: since }) =>
      client.api.events.list.query({ limit: PAGE, types, ...(since !== undefined && { since }) }),
    getNextPageParam: ({ data, nextSince }) => (data.length < PAGE ? undefined : (nextSince ?? undefined)),
  });
  const last = new Map(feed.data?.pages.flatMap(({ data }) => data.map((event) => [event.subject.id, event] as const)));
  const deleted = [...last.values()].filter(({ type }) => type.endsWith('.deleted')).toReversed();
  return (
    <>
      <header className="view-head">
        <h1>Trash</h1>
      </header>
      <p className="lead">
        What was deleted, as long as its event is kept. What is restored comes back with what was deleted with it.
      </p>
      <QueryFailure of={[feed]} />
      {!feed.data && !feed.error && <Loading what="what was deleted" />}
      {feed.data && deleted.length === 0 && <Empty title="The trash is empty">Deleted records appear here.</Empty>}
      <ul className="rows" aria-label="Deleted records">
        {deleted.map(({ id, at, subject, data }) => {
          const kind = restorable.find(({ param }) => nameOf(param) === subject.type);
          const { restore } = kind ?? {};
          const above = Object.fromEntries((kind?.parents ?? []).map((name) => [name, (data as Record<string, unknown>)[name]]));
          return (
            <li key={id} className="row">
              <div className="row-main">
                <p className="row-title">{titleOf(data)}</p>
                <p className="row-more">
                  {inWords(subject.type)} · deleted <Time at={at} />
                </p>
              </div>
              {kind && restore && (
                <Button
                  aria-label={`Restore ${titleOf(data)}`}
                  onClick={() =>
                    act({
                      operation: restore,
                      given: { ...above, [kind.param]: subject.id },
                      text: 'Restore',
                      title: titleOf(data),
                    })
                  }
                >
                  Restore
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      {feed.hasNextPage && (
        <Button className="more" isOff={feed.isFetchingNextPage} onClick={() => void feed.fetchNextPage()}>
          Look further
        </Button>
      )}
    </>
  );
}
