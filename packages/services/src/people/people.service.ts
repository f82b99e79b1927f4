import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import { createOldestProfiles } from '../profiles/profile-lookups.js';
import type { Actor } from '../shared/actor.js';
import { createShortCopies } from '../shared/short-copies.js';
import { createAcquaintances } from './acquaintances.js';
import { peopleErrors as errors } from './people.errors.js';
import { PersonSchema, type Person } from './people.schemas.js';

export type PeopleService = ReturnType<typeof createPeopleService>;

interface PeopleOptions {
  storage: Storage;
  lists: Lists;
  /** The names of those of the given identities that exist: null for people, whose profiles have one. */
  identityNames(identityIds: readonly string[]): Promise<ReadonlyMap<string, string | null>>;
  avatars: Attachments;
}

/** The collections that cards are made of. */
const PARTS = new Set(['identities', 'profiles', 'files']);

/** The cards of people, for whoever may see them (decisions N1). */
export function createPeopleService({ storage, lists, identityNames, avatars }: PeopleOptions) {
  const knownTo = createAcquaintances({ storage, lists });
  const oldestOf = createOldestProfiles(storage);
  /** The senders of a busy channel cost one lookup a second. */
  const copies = createShortCopies<Person>();
  storage.onWrite((collectionName) => PARTS.has(collectionName) && copies.clear());

  /**
   * The cards that the viewer may see, by identity.
   * @param ids without duplicates
   * @param call the request, for the gate: see `askedBy`
   */
  async function visible(viewer: Actor, ids: readonly string[], call: object = {}): Promise<Map<string, Person>> {
    if (viewer.isAdmin) return cardsOf(ids);
    // at the same time: fewer waits in a row than reading the cards of those who are known
    const [known, cards] = await Promise.all([knownTo(viewer.identityId, ids, call), cardsOf(ids)]);
    return new Map([...cards].filter(([id]) => known.has(id)));
  }

  /** The cards of those who exist, for callers that have made sure who may see them. */
  const cardsOf = (ids: readonly string[]): Promise<Map<string, Person>> => copies.many(ids, readCards);

  async function readCards(ids: readonly string[]): Promise<Map<string, Person>> {
    const [living, profiles] = await Promise.all([identityNames(ids), oldestOf(ids)]);
    const pictures = await avatars.oneOf([...profiles.values()].map(({ id }) => id));
    const cards = [...living].map(([id, name]): [string, Person] => {
      const bare: Person = { id, name, avatarUrl: null, profileId: null };
      const profile = profiles.get(id);
      if (!profile) return [id, bare];
      const card = { id, name: profile.name, avatarUrl: pictures.get(profile.id)?.url ?? null, profileId: profile.id };
      // a profile that does not fit its schema is not there (decisions H20)
      return [id, PersonSchema.safeParse(card).success ? card : bare];
    });
    return new Map(cards);
  }

  return {
    visible,
    cardsOf,

    /** @throws errors.notFound, also when the viewer may not see the person */
    async get(viewer: Actor, identityId: string, call?: object): Promise<Person> {
      const card = (await visible(viewer, [identityId], call)).get(identityId);
      if (!card) throw errors.notFound();
      return card;
    },

    /** Those of the people whom the viewer may see, in the order of `ids`. */
    async list(viewer: Actor, ids: readonly string[], call?: object): Promise<Person[]> {
      const cards = await visible(viewer, ids, call);
      return ids.flatMap((id) => cards.get(id) ?? []);
    },
  };
}
