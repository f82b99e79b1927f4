import { useEffect, useId, useState, type KeyboardEvent } from 'react';
import { useIdentityId } from '../session/session.js';
import { Avatar } from '../ui/avatar.js';
import { useMembers } from './members.js';
import { useNames } from './names.js';
import { useRoom } from './room.js';
import { t } from '../texts/texts.js';

/** Most people that are offered. */
const OFFERED = 6;
/** Most members that are looked through for a name. */
const SEARCHED = 1000;
/** A name that is being written, from its `@` to the cursor. */
const MENTION = /(?<=^|[\s(])@([\p{L}\p{N}\p{M}._-]*(?: [\p{L}\p{N}\p{M}._-]+)?)$/u;

interface Candidate {
  id: string;
  name: string;
  handle: string;
  avatarUrl: string | null;
}

/** The name that is being written before the cursor. */
export function mentionAt(text: string, cursor: number): { start: number; query: string } | undefined {
  const found = MENTION.exec(text.slice(0, cursor));
  return found ? { start: found.index, query: (found[1] ?? '').toLowerCase() } : undefined;
}

/** The members whom a name may mean that is being written, and the keys that go through them. */
export function useMentions(at: { start: number; query: string } | undefined) {
  const { channel } = useRoom();
  const self = useIdentityId();
  const listId = useId();
  const [chosen, setChosen] = useState({ in: '', at: 0 });
  // where Escape was pressed
  const [closedAt, setClosedAt] = useState<number>();
  if (at === undefined && closedAt !== undefined) setClosedAt(undefined);
  const members = useMembers(channel.id, { isNeeded: at !== undefined });
  const { data, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = members;
  const ids = data?.map(({ subscribedId }) => subscribedId).filter((id) => id !== self) ?? [];
  const personOf = useNames(at ? ids : [], channel.ownerId);
  const isOpen = at !== undefined && at.start !== closedAt;
  const words = (text: string) => text.toLowerCase().split(/[\s@]+/);
  const fits = ({ name, handle }: Candidate) =>
    [name, handle].some(
      (one) => one.toLowerCase().startsWith(at?.query ?? '') || words(one).some((word) => word.startsWith(at?.query ?? '')),
    );
  const people = isOpen
    ? ids
        .map((id) => ({ id, ...personOf(id) }))
        .filter(fits)
        .slice(0, OFFERED)
    : [];
  // whoever is named may be among the members that are not loaded yet
  const isLacking = isOpen && at.query !== '' && people.length < OFFERED;
  const mayLoad = hasNextPage && !isFetchNextPageError && ids.length < SEARCHED;
  useEffect(() => {
    if (isLacking && mayLoad && !isFetchingNextPage) void fetchNextPage();
  }, [isLacking, mayLoad, isFetchingNextPage, fetchNextPage]);
  // the first of each list
  const list = `${at?.start} ${at?.query}`;
  const active = chosen.in === list ? chosen.at : 0;
  const setActive = (to: number) => setChosen({ in: list, at: (to + people.length) % people.length });

  return {
    people,
    listId,
    active,
    field: {
      'aria-autocomplete': 'list' as const,
      'aria-controls': people.length > 0 ? listId : undefined,
      'aria-activedescendant': people.length > 0 ? `${listId}-${active}` : undefined,
    },
    /** @returns whether the key was for this */
    onKeyDown(event: KeyboardEvent, choose: (one: Candidate) => void): boolean {
      const { key } = event;
      const one = people[active];
      // before the list is there, too: it would open after the key that was to keep it closed
      if (key === 'Escape' && isOpen) setClosedAt(at.start);
      else if (!one) return false;
      else if (key === 'ArrowDown') setActive(active + 1);
      else if (key === 'ArrowUp') setActive(active - 1);
      else if ((key === 'Enter' || key === 'Tab') && !event.shiftKey) choose(one);
      else return false;
      event.preventDefault();
      return true;
    },
  };
}

interface MentionListProps {
  people: readonly Candidate[];
  listId: string;
  active: number;
  onChoose(one: Candidate): void;
}

/** Members to choose from, above the composer. */
export function MentionList({ people, listId, active, onChoose }: MentionListProps) {
  if (people.length === 0) return null;
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- belongs to a text field, which no select does
    <div className="mention-list" id={listId} role="listbox" aria-label={t('chat.members.title')}>
      {people.map((one, at) => (
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys are those of the composer
        <div
          key={one.id}
          id={`${listId}-${at}`}
          // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- as its list
          role="option"
          tabIndex={-1}
          aria-selected={at === active}
          // the composer keeps the focus
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(one)}
        >
          <Avatar of={one.id} name={one.name} url={one.avatarUrl} />
          {one.name}
        </div>
      ))}
    </div>
  );
}
