import type { RouterOutputs } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Entry } from '../ui/boundary.js';
import { Field } from '../ui/field.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { useDefinitions } from '../records/definitions.js';
import { RecordLink } from '../records/values.js';
import { eventText } from '../records/words.js';
import { t } from '../texts/texts.js';

type Event = RouterOutputs['events']['list']['data'][number];

/** How often what came is asked for, in milliseconds. */
const EVERY_MS = 2000;
const PAGE = 200;
/** Events that are kept in the page, the latest. */
const KEPT = 500;

/** The latest events of some types, newest first: the feed is read to its end, and then again and again. */
function useEvents(types: string) {
  const { client } = useSession();
  const [read, setRead] = useState<{ events: Event[]; since?: string }>({ events: [] });
  const query = useQuery({
    queryKey: ['events', types],
    gcTime: 0,
    refetchInterval: EVERY_MS,
    queryFn: async () => {
      let { events, since } = read;
      for (let isAtEnd = false; !isAtEnd;) {
        const { data, nextSince } = await client.api.events.list.query({
          limit: PAGE,
          ...(since !== undefined && { since }),
          ...(types !== '' && { types }),
        });
        events = [...data.toReversed(), ...events].slice(0, KEPT);
        since = nextSince ?? since;
        isAtEnd = data.length < PAGE;
      }
      setRead(since === undefined ? { events } : { events, since });
      return events;
    },
  });
  return { query, events: query.isSuccess ? read.events : undefined };
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
  const { query, events } = useEvents(types);
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

function Row({ event: { type, at, subject, data } }: { event: Event }) {
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
