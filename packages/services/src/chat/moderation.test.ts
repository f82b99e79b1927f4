import { FACES, failing, fixture, openStream, startTestServer, type Face, type Person } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { listenTo, say, subscribe, valueOf } from '../../test/chat-world.js';
import { MODERATED, openModerated, type Moderated } from '../../test/moderated-channel.js';
import { signUpAll } from '../../test/people.js';
import { upload } from '../../test/uploads.js';
import type { Subscription } from './subscriptions.schemas.js';

const MUTED = 'Identity is muted in the channel';
const REFUSED = failing(403, 'Identity is not authorized to access this resource');
const MINUTE = 60_000;
/** What ends acts within a second; this is for a busy machine too. */
const SOON = { timeout: 3000, interval: 20 };

const app = fixture(startTestServer);
/** Another instance, which hears nothing of the first. */
const second = fixture(() => startTestServer({ clock: app.clock }));
const people = fixture(() => signUpAll(app, MODERATED));
let channelId: string;
let ids: Awaited<ReturnType<typeof openModerated>>['ids'];
beforeEach(async () => {
  ({ channelId, ids } = await openModerated(people));
});

const soon = (ms = MINUTE) => new Date(app.clock.now().getTime() + ms).toISOString();
const call = (face: Face, who: Moderated, name: string, input: Record<string, unknown>) =>
  people[who].call(face, `chat.${name}`, input);
const patch = (who: Moderated, subscriptionId: string, body: object) =>
  people[who].rest('PATCH', `/subscriptions/${subscriptionId}`, body);

describe.each(FACES)('a role over %s', (face) => {
  const change = (who: Moderated, subscriptionId: string, fields: object) =>
    call(face, who, 'patchSubscription', { subscriptionId, ...fields });

  it('is given and taken by the owner and admins, and by nobody to itself', async () => {
    expect(await change('owner', ids.member, { role: 'moderator' })).toMatchObject({ ok: true, value: { role: 'moderator' } });
    expect(await change('admin', ids.member, { role: 'member' })).toMatchObject({ ok: true, value: { role: 'member' } });
    for (const who of ['moderator', 'member', 'stranger'] as const)
      expect(await change(who, ids.member, { role: 'moderator' }), who).toMatchObject({ status: 403 });
    expect(await change('admin', ids.admin, { role: 'moderator' })).toEqual(REFUSED);
    expect(await change('moderator', ids.moderator, { role: 'member' })).toEqual(REFUSED);
  });

  it('is of two kinds, and an empty change is refused', async () => {
    expect(await change('owner', ids.member, { role: 'owner' })).toMatchObject({ status: 400, message: 'Validation Error' });
    expect(await change('owner', ids.member, {})).toEqual(failing(400, 'Failed to update subscription'));
  });

  it('is told to the readers of the channel, with who joins and leaves', async () => {
    const events = listenTo(app, channelId);
    const { id: identityId } = people.member;
    valueOf(await change('owner', ids.member, { role: 'moderator' }));
    valueOf(await change('owner', ids.member, { mutedUntil: soon() }));
    await people.member.rest('DELETE', `/subscriptions/${ids.member}`).expect(204);
    await subscribe(people.owner, channelId, identityId);
    expect(events).toEqual([
      { type: 'subscription.updated', channelId, identityId, role: 'moderator' },
      { type: 'subscription.updated', channelId, identityId, role: 'moderator' },
      { type: 'subscription.deleted', channelId, identityId, role: 'moderator' },
      { type: 'subscription.created', channelId, identityId, role: 'member' },
    ]);
  });
});

describe.each(FACES)('a mute over %s', (face) => {
  const mute = (who: Moderated, subscriptionId: string, mutedUntil: string | null = soon()) =>
    call(face, who, 'patchSubscription', { subscriptionId, mutedUntil });
  const post = () => call(face, 'member', 'createMessage', { channelId, senderId: people.member.id, content: 'x' });

  it('is given by the owner, moderators and admins, and by moderators to ordinary members alone', async () => {
    for (const who of ['owner', 'moderator', 'admin'] as const)
      expect(await mute(who, ids.member), who).toMatchObject({ ok: true });
    for (const target of ['moderator', 'other', 'admin'] as const) expect(await mute('moderator', ids[target])).toEqual(REFUSED);
    expect(await mute('owner', ids.moderator)).toMatchObject({ ok: true });
    expect(await mute('moderator', ids.moderator, null)).toEqual(REFUSED);
    for (const who of ['member', 'stranger'] as const)
      expect(await mute(who, ids.member, null), who).toMatchObject({ status: 403 });
  });

  it('forbids posts, edits and attachments, until it is over or taken back', async () => {
    const { member } = people;
    const { id: messageId } = await say(member, channelId);
    const file = await upload(member, `/messages/${messageId}/attachment-upload-url`, 'text/plain', 'text');
    const until = soon();
    expect(await mute('moderator', ids.member, until)).toMatchObject({ value: { mutedUntil: until } });
    const calls = () => [
      post(),
      call(face, 'member', 'patchMessage', { messageId, content: 'y' }),
      call(face, 'member', 'attachmentUploadUrl', { messageId, type: 'text/plain', size: 1 }),
      call(face, 'member', 'addAttachment', { messageId, ...file }),
    ];
    for (const outcome of await Promise.all(calls())) expect(outcome).toEqual(failing(403, MUTED));
    expect(await call(face, 'member', 'listMessages', { channelId })).toMatchObject({ ok: true });
    expect(await mute('moderator', ids.member, null)).toMatchObject({ value: { mutedUntil: null } });
    expect(await post()).toMatchObject({ ok: true });
    await mute('moderator', ids.member, soon(1000));
    expect(await post()).toEqual(failing(403, MUTED));
    app.clock.advance(1001);
    expect(await post()).toMatchObject({ ok: true });
  });

  it('outlives leaving, and is shown and ended in the next membership', async () => {
    const { member } = people;
    const until = soon();
    valueOf(await mute('owner', ids.member, until));
    await member.rest('DELETE', `/subscriptions/${ids.member}`).expect(204);
    const again = valueOf(
      await call(face, 'member', 'createSubscription', { channelId, subscribedId: member.id }),
    ) as Subscription;
    expect(again).toMatchObject({ role: 'member', mutedUntil: until });
    expect(await post()).toEqual(failing(403, MUTED));
    const listed = await call(face, 'owner', 'listSubscriptions', { channelId, subscribedId: member.id, $select: 'mutedUntil' });
    expect(listed).toMatchObject({ value: { data: [{ mutedUntil: until }] } });
    expect(await call(face, 'member', 'getSubscription', { subscriptionId: again.id })).toEqual({ ok: true, value: again });
    valueOf(await mute('moderator', again.id, null));
    expect(await post()).toMatchObject({ ok: true });
    await member.rest('DELETE', `/subscriptions/${again.id}`).expect(204);
    expect(await subscribe(member, channelId, member.id)).toMatchObject({ mutedUntil: null });
    expect(await post()).toMatchObject({ ok: true });
  });
});

it('a mute forbids posts and typing by streams, within a second on another instance', async () => {
  const there = await second.signIn(people.member.email);
  const open = async (person: Person, server: typeof app) => {
    const stream = await openStream(server.url, `/messages/listen?channelId=${channelId}`, person.credentials);
    await stream.next('subscribed');
    return stream;
  };
  const streams = [await open(people.member, app), await open(there, second)];
  await say(there, channelId);
  await patch('moderator', ids.member, { mutedUntil: soon() }).expect(200);
  await expect
    .poll(async () => (await there.rest('POST', '/messages', { channelId, senderId: there.id, content: 'x' })).status, SOON)
    .toBe(403);
  for (const stream of streams) {
    stream.send({ type: 'typing', channelId });
    expect(await stream.next('error')).toMatchObject({ message: MUTED, errorCode: 'moderation.muted', channelId });
    stream.send({ type: 'message.create', channelId, content: 'x', clientId: 'c' });
    expect(await stream.next('error')).toMatchObject({ message: MUTED, clientId: 'c' });
    await stream.close();
  }
});

describe.each(FACES)('messages over %s', (face) => {
  it('are deleted by moderators, but not those of the owner, admins and other moderators', async () => {
    const remove = async (who: Moderated, sender: Moderated) => {
      const { id: messageId } = await say(people[sender], channelId);
      return call(face, who, 'deleteMessage', { messageId });
    };
    expect(await remove('moderator', 'member')).toEqual({ ok: true });
    expect(await remove('moderator', 'moderator')).toEqual({ ok: true });
    for (const sender of ['owner', 'admin', 'other'] as const) {
      expect(await remove('moderator', sender), sender).toMatchObject({ status: 403 });
      expect(await remove('owner', sender), sender).toEqual({ ok: true });
    }
    await patch('owner', ids.moderator, { role: 'member' }).expect(200);
    expect(await remove('moderator', 'member')).toMatchObject({ status: 403 });
  });
});
