import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { useDefinitions } from '../records/definitions.js';
import { RecordLink } from '../records/values.js';
import { inWords, titleOf } from '../records/words.js';

/** How often the feed asks for what came, in milliseconds. */
const EVERY_MS = 2000;
const PAGE = 200;

/** What has happened to records, in order: the feed that programs read. */
export function EventsPage() {
  useTitle('Events');
  const { client } = useSession();
  const { kindOf } = useDefinitions();
  const [types, setTypes] = useState('');
  const feed = useInfiniteQuery({
    queryKey: ['events', types],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: since }) =>
      client.api.events.list.query({ limit: PAGE, ...(since !== undefined && { since }), ...(types !== '' && { types }) }),
    getNextPageParam: ({ data, nextSince }) => (data.length < PAGE ? undefined : (nextSince ?? undefined)),
    refetchInterval: EVERY_MS,
  });
  const events = feed.data?.pages.flatMap(({ data }) => data).toReversed();
  return (
    <>
      <header className="view-head">
        <h1>Events</h1>
      </header>
      <Field
        label="Types"
        placeholder="order.*, product.created"
        defaultValue={types}
        onBlur={({ target }) => setTypes(target.value.replaceAll(/\s/g, ''))}
        hint="All without one; separated by commas"
      />
      <QueryFailure of={[feed]} />
      {!events && !feed.error && <Loading what="events" />}
      {events?.length === 0 && <Empty title="Nothing has happened yet">Events appear here as records change.</Empty>}
      <ul className="rows" aria-label="Events">
        {events?.map(({ id, type, at, subject, data }) => (
          <li key={id} className="row">
            <div className="row-main">
              <p className="row-title">{inWords(type)}</p>
              <p className="row-more">
                <RecordLink id={subject.id} kind={kindOf(`${subject.type}Id`)} row={{ data: { ...data, id: subject.id } }} />{' '}
                <span className="nothing">{titleOf(data)}</span> · <Time at={at} />
              </p>
            </div>
          </li>
        ))}
      </ul>
      {feed.hasNextPage && (
        <Button className="more" isOff={feed.isFetchingNextPage} onClick={() => void feed.fetchNextPage()}>
          Show later ones
        </Button>
      )}
    </>
  );
}
