import { describeFailure, type TandemClient } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { useAct } from '../records/acts.js';
import { useDefinitions } from '../records/definitions.js';
import { eventPages, type ToldEvent } from '../records/event-pages.js';
import { inWords, titleOf } from '../records/words.js';
import { put, t, term } from '../texts/texts.js';

/** Rows that are shown at once. */
const PAGE = 200;

/** What an event is about: `messageTemplate`. */
const subjectText = (type: string) => term('subjects', type) ?? inWords(type);

/** What was deleted last and not restored since. @param types of events; empty for none */
async function deletedOf(client: TandemClient, types: readonly string[], signal: AbortSignal): Promise<ToldEvent[]> {
  if (types.length === 0) return [];
  const last = new Map<string, ToldEvent>();
  try {
    // to the end: what was deleted may have been restored since
    for await (const { data } of eventPages(client, { types: types.join(',') }, signal))
      for (const event of data) {
        last.delete(event.subject.id);
        last.set(event.subject.id, event);
      }
  } catch (error) {
    // a host may have records that can be restored, and of which no events tell
    const told = types.filter((type) => !describeFailure(error).data.some((problem) => problem.endsWith(`: '${type}'`)));
    if (told.length === types.length) throw error;
    return deletedOf(client, told, signal);
  }
  return [...last.values()].filter(({ type }) => type.endsWith('.deleted'));
}

/** What was deleted and can be restored, the latest first: read from the events, which are kept for a while. */
export function TrashPage() {
  useTitle(t('records.trash.title'));
  const { client } = useSession();
  const { kinds } = useDefinitions();
  const act = useAct();
  const restorable = kinds.filter(({ restore }) => restore !== undefined);
  const nameOf = (param: string) => param.replace(/Id$/, '');
  const types = restorable.flatMap(({ param }) => ['deleted', 'restored'].map((what) => `${nameOf(param)}.${what}`));
  const [shown, setShown] = useState(PAGE);
  const feed = useQuery({
    queryKey: ['tandem', 'events', 'trash', types],
    queryFn: ({ signal }) => deletedOf(client, types, signal),
  });
  const deleted = (feed.data ?? []).toSorted((one, other) => other.at.localeCompare(one.at));
  return (
    <>
      <header className="view-head">
        <h1>{t('records.trash.title')}</h1>
      </header>
      <p className="lead">{t('records.trash.lead')}</p>
      <QueryFailure of={[feed]} />
      {!feed.data && !feed.error && <Loading what={t('records.loading.deleted')} />}
      {feed.data && deleted.length === 0 && <Empty title={t('records.trash.none')}>{t('records.trash.noneWhy')}</Empty>}
      {deleted.length > 0 && (
        <ul className="rows" aria-label={t('records.trash.label')}>
          {deleted.slice(0, shown).map(({ id, at, subject, data }) => {
            const kind = restorable.find(({ param }) => nameOf(param) === subject.type);
            const { restore } = kind ?? {};
            const above = Object.fromEntries(
              (kind?.parents ?? []).map((name) => [name, (data as Record<string, unknown>)[name]]),
            );
            return (
              <li key={id} className="row">
                <div className="row-main">
                  <p className="row-title">{titleOf(data)}</p>
                  <p className="row-more">
                    {subjectText(subject.type)} · {t.rich('records.trash.deleted', { time: put(<Time at={at} />) })}
                  </p>
                </div>
                {kind && restore && (
                  <Button
                    aria-label={t('records.trash.restoreOne', { title: titleOf(data) })}
                    onClick={() =>
                      act({
                        operation: restore,
                        given: { ...above, [kind.param]: subject.id },
                        text: t('records.trash.restore'),
                        title: titleOf(data),
                      })
                    }
                  >
                    {t('records.trash.restore')}
                  </Button>
                )}
              </li>
            );
          })}
        </ul>
      )}
      {deleted.length > shown && (
        <Button className="more" onClick={() => setShown(shown + PAGE)}>
          {t('records.trash.further')}
        </Button>
      )}
    </>
  );
}
