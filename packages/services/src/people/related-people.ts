import { LIMITS, expandsTooMuch } from '@tandem/list-query';
import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { createOrganizationFellows } from '../organizations/fellows.js';
import { createProfileOwners } from '../profiles/profile-lookups.js';
import { viewerOf } from '../shared/actor.js';
import { ownersKind, personKind, personOfProfileKind, type Person } from './people.schemas.js';
import type { PeopleService } from './people.service.js';

/** Lets lists show people as related records (decisions N2), each only to who may see the person. */
export function relatePeople({ storage, lists, people }: { storage: Storage; lists: Lists; people: PeopleService }): void {
  const { ownersOf } = createOrganizationFellows({ storage, lists });
  const identitiesOf = createProfileOwners(storage);

  async function visible(ids: readonly string[], query: object): Promise<Map<string, Person>> {
    const viewer = viewerOf(query);
    return viewer ? people.visible(viewer, [...new Set(ids)], query) : new Map<string, Person>();
  }
  lists.relate(personKind, { find: visible });
  lists.relate(personOfProfileKind, {
    async find(profileIds, query) {
      const identities = await identitiesOf(profileIds);
      const cards = await visible([...identities.values()], query);
      return new Map(
        [...identities].flatMap(([id, identityId]) => (cards.has(identityId) ? [[id, cards.get(identityId) as Person]] : [])),
      );
    },
  });
  lists.relate(ownersKind, {
    async find(organizationIds, query) {
      const owners = await ownersOf(organizationIds, LIMITS.expandRecords + 1, query);
      const ids = owners.flatMap(({ identityIds }) => identityIds);
      // each organization may have thousands, whose cards would be read to be refused
      if (ids.length > LIMITS.expandRecords) throw expandsTooMuch();
      const cards = await visible(ids, query);
      return new Map(owners.map(({ id, identityIds }) => [id, identityIds.flatMap((identityId) => cards.get(identityId) ?? [])]));
    },
  });
}
