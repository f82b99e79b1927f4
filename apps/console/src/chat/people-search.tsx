import { field, queryOf, rowsOf } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState, type ReactNode } from 'react';
import { useMe } from '../session/me.js';
import { isId } from '../ids.js';
import { useIdentityId, useSession } from '../session/session.js';
import { Avatar } from '../ui/avatar.js';
import { Field } from '../ui/field.js';
import { QueryFailure } from '../ui/query-failure.js';
import { useChat } from './chat.js';
import { useNames } from './names.js';
import { t } from '../texts/texts.js';

/** Channels and organizations whose members are offered, members of each, and people that are shown. */
const [GROUPS, MEMBERS, SHOWN] = [8, 100, 6];

/** Those with whom one shares a channel or an organization: all whom the server shows to who is no admin. */
function useAcquaintances() {
  const { client } = useSession();
  const { chat, organizations } = client.api;
  const self = useIdentityId();
  const { channels = [] } = useChat();
  const near = channels.slice(0, GROUPS).map(({ id }) => id);
  return useQuery({
    queryKey: ['acquaintances', self],
    staleTime: 60_000,
    queryFn: async () => {
      const { parameters } = queryOf('organizations.listOfIdentity').top(GROUPS);
      const answer = await organizations.listOfIdentity.query({ identityId: self, ...parameters });
      const { value: own } = rowsOf(answer, parameters);
      const many = queryOf('chat.listSubscriptions').top(MEMBERS).parameters;
      // calls of one tick share a request
      const lists = await Promise.all([
        ...near.map(async (channelId) => {
          const members = rowsOf(await chat.listSubscriptions.query({ channelId, ...many }), many);
          return members.value.map(({ subscribedId }) => subscribedId);
        }),
        ...own.map(async ({ organization: { id: organizationId } }) => {
          const { parameters: most } = queryOf('organizations.listMembers').top(MEMBERS);
          const members = rowsOf(await organizations.listMembers.query({ organizationId, ...most }), most);
          return members.value.map(({ identityId }) => identityId);
        }),
      ]);
      return [...new Set(lists.flat())].filter((id) => id !== self);
    },
  });
}

/** Anybody, by name or address: for admins. */
function useFound(text: string) {
  const { client } = useSession();
  const { data: me } = useMe();
  return useQuery({
    queryKey: ['people-search', text],
    enabled: me?.isAdmin === true && text.length > 1,
    queryFn: async () => {
      const byName = queryOf('profiles.list').where(field('name').toLower().contains(text)).top(SHOWN).parameters;
      const byAddress = queryOf('identities.list').where(field('email').contains(text)).top(SHOWN).parameters;
      const [profiles, identities] = await Promise.all([
        client.api.profiles.list.query(byName),
        client.api.identities.list.query(byAddress),
      ]);
      return [
        ...rowsOf(profiles, byName).value.map(({ identityId }) => identityId),
        ...rowsOf(identities, byAddress).value.map(({ id }) => id),
      ];
    },
  });
}

interface PeopleSearchProps {
  label: string;
  /** Whom not to show. */
  without: readonly string[];
  /** What can be done with somebody. */
  renderAction(identityId: string, name: string): ReactNode;
}

/** Finds people by their names, or by an id. */
export function PeopleSearch({ label, without, renderAction }: PeopleSearchProps) {
  const self = useIdentityId();
  const [typed, setTyped] = useState('');
  const text = useDeferredValue(typed.trim().toLowerCase());
  const known = useAcquaintances();
  const found = useFound(text);
  const given = isId(text) ? [text] : [];
  const ids = [...new Set([...given, ...(found.data ?? []), ...(known.data ?? [])])].filter(
    (id) => id !== self && !without.includes(id),
  );
  const personOf = useNames(ids.slice(0, MEMBERS), '');
  const isFound = (id: string) => given.includes(id) || found.data?.includes(id) === true;
  const people = ids
    .map((id) => ({ id, ...personOf(id) }))
    .filter(({ id, name, handle }) => isFound(id) || `${name} ${handle}`.toLowerCase().includes(text));
  return (
    <search className="people-search">
      <Field
        label={label}
        type="search"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        autoComplete="off"
        placeholder={t('chat.members.nameOrId')}
      />
      <QueryFailure of={[known, found]} />
      {text !== '' && known.data && people.length === 0 && <p className="hint">{t('chat.members.nobody')}</p>}
      <ul className="people">
        {people.slice(0, SHOWN).map(({ id, name, avatarUrl }) => (
          <li key={id} className="person">
            <Avatar of={id} name={name} url={avatarUrl} />
            <span className="person-name">{name}</span>
            {renderAction(id, name)}
          </li>
        ))}
      </ul>
    </search>
  );
}
