import { FACES, NO_ID, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { openChannel, say, valueOf } from '../../test/chat-world.js';
import type { Channel } from './channels.schemas.js';
import type { Subscription } from './subscriptions.schemas.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock, mongodbUri: app.mongodbUri }));
const admin = fixture(() => app.signUpAdmin());
let ann: Person;
let bob: Person;
beforeEach(async () => {
  [ann, bob] = [await app.signUp(), await app.signUp()];
  // they know each other by a channel
  await openChannel(ann, [bob]);
});

async function membersOf(channelId: string): Promise<string[]> {
  const path = `/subscriptions?channelId=${channelId}`;
  const { data } = await admin.rest('GET', path).expect<{ data: Subscription[] }>(200);
  return data.map(({ subscribedId }) => subscribedId).toSorted();
}
const both = () => [ann.id, bob.id].toSorted();

describe.each(FACES)('a direct channel over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);
  const open = async (person: Person, { id: identityId }: Person) =>
    valueOf(await call(person, 'openDirectChannel', { identityId })) as Channel;

  it('is the one of the pair, whoever opens it, and both are its members', async () => {
    const channel = await open(ann, bob);
    expect(channel).toMatchObject({ direct: true, open: false });
    expect(await open(bob, ann)).toEqual(channel);
    expect(await open(ann, bob)).toEqual(channel);
    expect(await membersOf(channel.id)).toEqual(both());
    expect(await say(bob, channel.id)).toMatchObject({ seq: 1 });
    for (const { id: memberId, call: ask } of [ann, bob])
      expect(await ask(face, 'chat.listChannels', { memberId, $filter: 'direct eq true' })).toMatchObject({
        value: { data: [{ id: channel.id, direct: true }] },
      });
    expect(await openChannel(ann)).toMatchObject({ direct: false });
  });

  it('is owned by both, and nobody is added, not even by an admin', async () => {
    const { id: channelId } = await open(ann, bob);
    for (const person of [ann, bob])
      expect(await call(person, 'patchChannel', { channelId, name: person.id, open: true })).toMatchObject({
        value: { name: person.id },
      });
    const cem = await app.signUp();
    const refused = { ok: false, status: 403, message: 'A direct channel has two members' };
    for (const person of [ann, bob, admin, cem])
      expect(await call(person, 'createSubscription', { channelId, subscribedId: cem.id })).toEqual(refused);
    expect(await call(cem, 'getChannel', { channelId })).toMatchObject({ status: 403 });
    expect(await call(cem, 'deleteChannel', { channelId })).toMatchObject({ status: 403 });
    expect(await call(bob, 'deleteChannel', { channelId })).toEqual({ ok: true, value: undefined });
  });

  it('comes back with its messages after one has left, or it was deleted', async () => {
    const channel = await open(ann, bob);
    const { id: messageId } = await say(ann, channel.id);
    const { data } = await bob.rest('GET', `/subscriptions?channelId=${channel.id}&subscribedId=${bob.id}`).expect<{ data: Subscription[] }>(200); // prettier-ignore
    await bob.rest('DELETE', `/subscriptions/${data[0]?.id}`).expect(204);
    expect(await membersOf(channel.id)).toEqual([ann.id]);
    expect((await open(bob, ann)).id).toBe(channel.id);
    expect(await membersOf(channel.id)).toEqual(both());
    await bob.rest('DELETE', `/channels/${channel.id}`).expect(204);
    expect((await open(ann, bob)).id).toBe(channel.id);
    expect(await membersOf(channel.id)).toEqual(both());
    await bob.rest('GET', `/messages/${messageId}`).expect(200);
  });

  it('does not come back while one has banned the other, who can neither lift nor shorten that', async () => {
    const { id: channelId } = await open(ann, bob);
    valueOf(await call(ann, 'createBan', { channelId, identityId: bob.id }));
    expect(await membersOf(channelId)).toEqual([ann.id]);
    const banned = { ok: false, status: 403, message: 'Identity is banned from the channel' };
    for (const [person, { id: identityId }] of [
      [bob, ann],
      [ann, bob],
    ] as const)
      expect(await call(person, 'openDirectChannel', { identityId })).toEqual(banned);
    const until = new Date(app.clock.now().getTime() + 1000).toISOString();
    expect(await call(bob, 'createBan', { channelId, identityId: bob.id, until })).toMatchObject({ ok: false, status: 403 });
    await ann.rest('DELETE', `/channels/${channelId}`).expect(204);
    expect(await call(bob, 'openDirectChannel', { identityId: ann.id })).toEqual(banned);
    await admin.rest('GET', `/channels/${channelId}`).expect(404);
    await admin.rest('POST', `/channels/${channelId}/restore`).expect(200);
    expect(await call(bob, 'deleteBan', { channelId, identityId: bob.id })).toMatchObject({ ok: false, status: 403 });
    valueOf(await call(ann, 'deleteBan', { channelId, identityId: bob.id }));
    await open(bob, ann);
    expect(await membersOf(channelId)).toEqual(both());
  });

  it('is with somebody else whom one may see', async () => {
    const opens = (person: Person, identityId: string) => call(person, 'openDirectChannel', { identityId });
    const data = ['request body/identityId must NOT be your own'];
    expect(await opens(ann, ann.id)).toEqual({ ok: false, status: 400, message: 'Validation Error', data });
    const stranger = await app.signUp();
    const unseen = { ok: false, status: 404, message: 'Person not found' };
    for (const id of [stranger.id, NO_ID]) expect(await opens(ann, id)).toEqual(unseen);
    expect(await opens(stranger, ann.id)).toEqual(unseen);
    await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
    expect(await opens(ann, bob.id)).toEqual(unseen);
    // an admin sees everybody; who was written to sees the admin
    expect(await opens(admin, stranger.id)).toMatchObject({ ok: true });
    expect(await opens(stranger, admin.id)).toMatchObject({ ok: true });
  });

  it('is one when both open it twenty times at once on two instances, the first time and after a deletion', async () => {
    const twenty = async () => {
      const opened = Array.from({ length: 20 }, (_, n) => {
        const [person, identityId] = n % 2 === 0 ? [ann, bob.id] : [bob, ann.id];
        const server = n % 4 < 2 ? app : other;
        return server.call(face, 'chat.openDirectChannel', { identityId }, person.credentials);
      });
      const outcomes = await Promise.all(opened);
      return new Set(outcomes.map((outcome) => (valueOf(outcome) as Channel).id));
    };
    const ids = await twenty();
    expect(ids.size).toBe(1);
    const [id = ''] = ids;
    expect(await membersOf(id)).toEqual(both());
    await ann.rest('DELETE', `/channels/${id}`).expect(204);
    expect(await twenty()).toEqual(ids);
    expect(await membersOf(id)).toEqual(both());
    const { data } = await admin
      .rest('GET', `/channels?$filter=direct eq true&ownerId=${ann.id}`)
      .expect<{ data: object[] }>(200);
    const ofBob = await admin.rest('GET', `/channels?$filter=direct eq true&ownerId=${bob.id}`).expect<{ data: object[] }>(200);
    expect([...data, ...ofBob.data]).toHaveLength(1);
  });
});
