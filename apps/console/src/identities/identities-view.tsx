import { queryOf, rowsOf, type RouterOutputs } from '@tandem/client';
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { Choice, Field } from '../ui/field.js';
import { Empty, Failure, Good, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { wordsOf } from '../ui/words.js';

type Identity = RouterOutputs['identities']['get'];

/** Accounts loaded at once. */
const PAGE = 25;

const STATES = [
  ['any', 'Any'],
  ['open', 'Not locked'],
  ['locked', 'Locked'],
] as const;
type State = (typeof STATES)[number][0];

function identitiesQuery(words: string, state: State) {
  let query = queryOf('identities.list').top(PAGE);
  if (words !== '') query = query.search(words);
  if (state !== 'any') query = query.where('locked', 'eq', state === 'locked');
  return query;
}

/** All accounts, for admins: searched by the words of their email, locked and unlocked. */
export function IdentitiesView() {
  useTitle('Identities');
  const { client } = useSession();
  const queries = useQueryClient();
  const [email, setEmail] = useState('');
  const [state, setState] = useState<State>('any');
  const [toLock, setToLock] = useState<Identity>();
  const words = useDeferredValue(wordsOf(email));

  const identities = useInfiniteQuery({
    queryKey: ['identities', words, state],
    initialPageParam: '',
    queryFn: async ({ pageParam }) => {
      const query = identitiesQuery(words, state);
      const { parameters } = pageParam === '' ? query : query.after(pageParam);
      return rowsOf(await client.api.identities.list.query(parameters), parameters);
    },
    getNextPageParam: ({ nextToken }) => nextToken,
    placeholderData: keepPreviousData,
  });
  const { data, hasNextPage, fetchNextPage, isFetchingNextPage } = identities;

  const changing = useMutation({
    mutationFn: ({ id, locked }: Identity) =>
      locked ? client.api.identities.unlock.mutate({ identityId: id }) : client.api.identities.lock.mutate({ identityId: id }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['identities'] }),
  });

  const rows = data?.pages.flatMap(({ value }) => value);
  return (
    <>
      <header className="view-head">
        <h1>Identities</h1>
        {data && <span className="tag tag-plain">{data.pages[0]?.total ?? 0}</span>}
      </header>
      <search className="filters">
        <Field
          label="Search by email"
          type="search"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          autoComplete="off"
        />
        <Choice<State> label="State" value={state} options={STATES} onChange={setState} />
      </search>
      <QueryFailure of={[identities]} />
      <Failure of={changing.error} />
      {changing.isSuccess && (
        <Good>
          {changing.variables.email} is {changing.variables.locked ? 'unlocked' : 'locked, and signed out everywhere'}.
        </Good>
      )}
      {!rows && !identities.error && <Loading what="identities" />}
      {rows?.length === 0 && <Empty title="Nobody">No matching identities.</Empty>}
      {rows && rows.length > 0 && (
        <ul className="rows" aria-label="Identities">
          {rows.map((identity) => (
            <Entry key={identity.id} of={identity}>
              <Row
                identity={identity}
                isBusy={changing.isPending}
                onChange={() => (identity.locked ? changing.mutate(identity) : setToLock(identity))}
              />
            </Entry>
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button className="more" isOff={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
      {toLock && (
        <Confirm
          title={`Lock ${toLock.email}?`}
          action="Lock"
          onConfirm={() => changing.mutate(toLock)}
          onClose={() => setToLock(undefined)}
        >
          All sessions end at once, and nobody can sign in to this account until it is unlocked.
        </Confirm>
      )}
    </>
  );
}

function Row({ identity, isBusy, onChange }: { identity: Identity; isBusy: boolean; onChange(): void }) {
  const isSelf = useIdentityId() === identity.id;
  const { email, typeId, emailVerified, locked, deactivatedAt, createdAt } = identity;
  return (
    <li className="row">
      <div className="row-main">
        <p className="row-title">
          {email} {locked && <span className="tag tag-bad">locked</span>}{' '}
          {deactivatedAt !== null && <span className="tag tag-plain">deactivated</span>}
        </p>
        <p className="row-more">
          {typeId} · email {emailVerified ? 'verified' : 'not verified'} · joined <Time at={createdAt} />
        </p>
      </div>
      {isSelf ? (
        <span className="tag">you</span>
      ) : (
        <Button isOff={isBusy} aria-label={`${locked ? 'Unlock' : 'Lock'} ${email}`} onClick={onChange}>
          {locked ? 'Unlock' : 'Lock'}
        </Button>
      )}
    </li>
  );
}
