import { isError, type TandemClient } from '@tandem/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Entry } from '../ui/boundary.js';
import { Field } from '../ui/field.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { useDefinitions } from '../records/definitions.js';
import { PAGE, eventPages, type ToldEvent } from '../records/event-pages.js';
import { RecordLink } from '../records/values.js';
import { eventText } from '../records/words.js';
import { t } from '../texts/texts.js';

/** How often what came is asked for, in milliseconds. */
const EVERY_MS = 2000;
/** Events that are kept in the page, the latest. */
const KEPT = 500;
/** How far back the latest are looked for, in minutes, until there are enough: events are read forwards alone. */
const BACK = [1, 60, 24 * 60];
const ENOUGH = 100;

interface Read {
  /** The newest first. */
  events: readonly ToldEvent[];
  /** Behind which one reads on. */
  since: string | undefined;
}
const NOTHING: Read = { events: [], since: undefined };

/** An id as events of that moment have it. */
function idAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** What was read with what follows it; undefined where some of that is no longer kept. */
async function readOn(client: TandemClient, types: string, known: Read, signal: AbortSignal): Promise<Read | undefined> {
  let read = known;
  try {
    for await (const { data, nextSince } of eventPages(client, { types, since: known.since }, signal)) {
      read = { events: [...data.toReversed(), ...read.events].slice(0, KEPT), since: nextSince ?? read.since };
      // what comes meanwhile is for the next time
      if (data.length < PAGE) break;
    }
    return read;
  } catch (error) {
    if (isError(error, 'events.gone')) return undefined;
    throw error;
  }
}

async function readLatest(client: TandemClient, types: string, signal: AbortSignal): Promise<Read | undefined> {
  for (const minutes of BACK) {
    const from = { events: [], since: idAt(Date.now() - minutes * 60_000) };
    const read = await readOn(client, types, from, signal);
    if (!read) break;
    if (read.events.length >= ENOUGH) return read;
  }
  return readOn(client, types, NOTHING, signal);
}

/** The latest events of some types, newest first, and again and again what follows. */
function useEvents(types: string) {
  const { client } = useSession();
  const queries = useQueryClient();
  const queryKey = ['events', types];
  return useQuery({
    queryKey,
    gcTime: 0,
    refetchInterval: EVERY_MS,
    queryFn: async ({ signal }) => {
      const known = queries.getQueryData<Read>(queryKey);
      const read = known && (await readOn(client, types, known, signal));
      return read ?? (await readLatest(client, types, signal)) ?? NOTHING;
    },
  });
}

/** What has happened to records, live: the feed that programs read. */
export function EventsPage() {
  useTitle(t('records.events.title'));
  const [types, setTypes] = useState('');
  return (
    <>
      <header className="view-head">
        <h1>{t('records.events.title')}</h1>
      </header>
      <Field
        label={t('records.events.types')}
        placeholder="order.*, product.created"
        defaultValue={types}
        onBlur={({ target }) => setTypes(target.value.replaceAll(/\s/g, ''))}
        hint={t('records.events.hint')}
      />
      <Feed key={types} types={types} />
    </>
  );
}

function Feed({ types }: { types: string }) {
  const query = useEvents(types);
  const events = query.data?.events;
  return (
    <>
      <QueryFailure of={[query]} />
      {!events && !query.error && <Loading what={t('records.loading.events')} />}
      {events?.length === 0 && <Empty title={t('records.events.none')}>{t('records.events.noneWhy')}</Empty>}
      {events && events.length > 0 && (
        <ul className="rows" aria-label={t('records.events.title')}>
          {events.map((event) => (
            <Entry key={event.id} of={event}>
              <Row event={event} />
            </Entry>
          ))}
        </ul>
      )}
    </>
  );
}

function Row({ event: { type, at, subject, data } }: { event: ToldEvent }) {
  const { kindOf } = useDefinitions();
  return (
    <li className="row">
      <div className="row-main">
        <p className="row-title">{eventText(type)}</p>
        <p className="row-more">
          <RecordLink id={subject.id} kind={kindOf(`${subject.type}Id`)} row={{ data: { ...data, id: subject.id } }} /> ·{' '}
          <Time at={at} />
        </p>
      </div>
    </li>
  );
}
