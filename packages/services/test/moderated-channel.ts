import type { Person } from '@tandem/testing';
import { openChannel, subscribe } from './chat-world.js';

/** Who is there where a channel is moderated; the stranger is not in it. */
export const MODERATED = ['admin', 'owner', 'moderator', 'other', 'member', 'stranger'] as const;
export type Moderated = (typeof MODERATED)[number];

/** An open channel with all but the stranger, two of them moderators. @returns its id, and those of memberships */
export async function openModerated({ owner, ...people }: Record<Moderated, Person>) {
  const { id: channelId } = await openChannel(owner, [], { open: true });
  const join = async (person: Person) => (await subscribe(owner, channelId, person.id)).id;
  const ids = {
    moderator: await join(people.moderator),
    other: await join(people.other),
    member: await join(people.member),
    admin: await join(people.admin),
  };
  for (const id of [ids.moderator, ids.other])
    await owner.rest('PATCH', `/subscriptions/${id}`, { role: 'moderator' }).expect(200);
  return { channelId, ids };
}
