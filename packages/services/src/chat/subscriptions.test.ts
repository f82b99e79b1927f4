import { FACES, NO_ID, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { listenTo, openChannel, subscribe, valueOf } from '../../test/chat-world.js';
import { subscriptionModel } from './subscription.model.js';
import type { Subscription } from './subscriptions.schemas.js';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

const membersOf = async (channelId: string) =>
  (await admin.rest('GET', `/subscriptions?channelId=${channelId}`).expect<{ data: Subscription[] }>(200)).data.map(
    ({ subscribedId }) => subscribedId,
  );

it('a subscription that a dead process left in a deleted channel goes with that', async () => {
  const { id: channelId } = await openChannel(ann);
  await admin.rest('DELETE', `/channels/${channelId}`).expect(204);
  const Subscriptions = app.storage.model(subscriptionModel);
  const { _id } = await Subscriptions.create({ channelId, subscribedId: bob.id, role: 'member' });
  await app.storage.events.last();
  expect(await Subscriptions.findById(_id).lean()).toBeNull();
  await admin.rest('POST', `/channels/${channelId}/restore`).expect(200);
  expect(await membersOf(channelId)).toContain(bob.id);
});

describe.each(FACES)('a subscription over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);

  it('is created once per pair, by the owner, and readers are told who joins and leaves', async () => {
    const { id: channelId } = await openChannel(ann);
    const events = listenTo(app, channelId);
    const pair = { channelId, subscribedId: bob.id };
    const made = valueOf(await call(ann, 'createSubscription', pair)) as Subscription;
    expect(made).toMatchObject({ ...pair, readSeq: 0, role: 'member', mutedUntil: null });
    const again = { ok: false, status: 409, message: 'Identity is already subscribed' };
    expect(await call(ann, 'createSubscription', pair)).toEqual(again);
    expect(await call(bob, 'getSubscription', { subscriptionId: made.id })).toEqual({ ok: true, value: made });
    expect(await call(bob, 'listSubscriptions', { subscribedId: bob.id, limit: 1 })).toMatchObject({ value: { data: [made] } });
    expect(await call(ann, 'deleteSubscription', { subscriptionId: made.id })).toEqual({ ok: true });
    const gone = { ok: false, status: 404, message: 'Subscription not found' };
    expect(await call(admin, 'getSubscription', { subscriptionId: made.id })).toEqual(gone);
    expect(await call(admin, 'deleteSubscription', { subscriptionId: made.id })).toEqual(gone);
    expect(await call(ann, 'createSubscription', pair)).toMatchObject({ ok: true });
    expect(events).toEqual([
      { type: 'subscription.created', channelId, identityId: bob.id, role: 'member' },
      { type: 'subscription.deleted', channelId, identityId: bob.id, role: 'member' },
      { type: 'subscription.created', channelId, identityId: bob.id, role: 'member' },
    ]);
  });

  it('needs a channel and an identity that exist', async () => {
    const { id: channelId } = await openChannel(ann);
    const missing = (message: string) => ({ ok: false, status: 404, message });
    const ofNone = { channelId: NO_ID, subscribedId: bob.id };
    expect(await call(admin, 'createSubscription', ofNone)).toEqual(missing('Channel not found'));
    expect(await call(ann, 'createSubscription', { channelId, subscribedId: NO_ID })).toEqual(missing('Identity not found'));
    expect(await membersOf(channelId)).toEqual([ann.id]);
  });

  it('can be created by oneself in an open channel only, and removed by oneself anywhere', async () => {
    const closed = await openChannel(ann);
    const open = await openChannel(ann, [], { open: true });
    const join = (channelId: string) => call(bob, 'createSubscription', { channelId, subscribedId: bob.id });
    const refused = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
    expect(await join(closed.id)).toEqual(refused);
    expect(await call(bob, 'createSubscription', { channelId: open.id, subscribedId: admin.id })).toEqual(refused);
    const { id: subscriptionId } = valueOf(await join(open.id)) as Subscription;
    expect(await call(bob, 'deleteSubscription', { subscriptionId })).toEqual({ ok: true });
    expect(await membersOf(open.id)).toEqual([ann.id]);
  });

  it('is hidden while its identity is deleted, even if the channel is deleted and restored meanwhile', async () => {
    const { id: channelId } = await openChannel(ann);
    const cid = await app.signUp();
    await subscribe(ann, channelId, cid.id);
    const doTo = (verb: string, path: string) => admin.rest(verb, path).expect(verb === 'DELETE' ? 204 : 200);
    await doTo('DELETE', `/identities/${cid.id}`);
    expect(await membersOf(channelId)).toEqual([ann.id]);
    await doTo('DELETE', `/channels/${channelId}`);
    await doTo('POST', `/channels/${channelId}/restore`);
    expect(await membersOf(channelId)).toEqual([ann.id]);
    await doTo('DELETE', `/channels/${channelId}`);
    await doTo('POST', `/identities/${cid.id}/restore`);
    expect(await membersOf(channelId)).toEqual([]);
    await doTo('POST', `/channels/${channelId}/restore`);
    expect(await membersOf(channelId)).toEqual([cid.id, ann.id]);
  });
});
