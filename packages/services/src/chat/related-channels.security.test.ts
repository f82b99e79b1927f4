import { askedBy, type ListCall } from '@tandem/lists';
import { fixture, startTestServer, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openChannel, subscribe } from '../../test/chat-world.js';
import { messageList } from './messages.schemas.js';

const app = fixture(startTestServer);

/** The related channel of a row that names it, as a caller sees it. */
async function seenBy(caller: Person | undefined, channelId: string, typeId = 'regular'): Promise<unknown> {
  const identity = caller && { id: caller.id, typeId };
  const call = { identity, server: { typeIds: { admin: 'admin' } }, ip: '127.0.0.1' } as unknown as ListCall;
  const query = askedBy(call, { $expand: 'channel' });
  const { lists } = app.tandem.services;
  return (await lists.expanded<{ channel?: unknown }>(messageList.relations, { channelId }, {}, query)).channel;
}

it('shows a related channel to its members while they are members, its owner and admins, whichever row names it', async () => {
  const [owner, member, stranger] = [await app.signUp(), await app.signUp(), await app.signUp()];
  const channel = await openChannel(owner);
  const { id: subscriptionId } = await subscribe(owner, channel.id, member.id);
  const shown = { id: channel.id, name: 'Tea', icon: null };
  for (const caller of [owner, member]) expect(await seenBy(caller, channel.id)).toMatchObject(shown);
  expect(await seenBy(stranger, channel.id, 'admin')).toMatchObject(shown);
  for (const caller of [stranger, undefined]) expect(await seenBy(caller, channel.id)).toBeNull();
  await member.rest('DELETE', `/subscriptions/${subscriptionId}`).expect(204);
  expect(await seenBy(member, channel.id)).toBeNull();
  await subscribe(owner, channel.id, member.id);
  expect(await seenBy(member, channel.id)).toMatchObject(shown);
  const own = await owner
    .rest('GET', `/subscriptions?channelId=${channel.id}&subscribedId=${owner.id}`)
    .expect<{ data: { id: string }[] }>(200);
  await owner.rest('DELETE', `/subscriptions/${own.data[0]?.id}`).expect(204);
  expect(await seenBy(owner, channel.id)).toMatchObject(shown);
  await owner.rest('DELETE', `/channels/${channel.id}`).expect(204);
  for (const caller of [owner, member]) expect(await seenBy(caller, channel.id)).toBeNull();
});
