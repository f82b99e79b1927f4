import type { Person } from '@tandem/testing';

/** A channel of this owner with these members. @returns its id */
export async function channelOf(owner: Person, members: Person[] = []): Promise<string> {
  const { id } = await owner.rest('POST', '/channels', { name: 'Tea', ownerId: owner.id }).expect<{ id: string }>(201);
  for (const { id: subscribedId } of members)
    await owner.rest('POST', '/subscriptions', { channelId: id, subscribedId }).expect(201);
  return id;
}

export const contents = (messages: readonly { content: string }[] | undefined) => messages?.map(({ content }) => content);
