import { randomUUID } from 'node:crypto';
import { FACES, failing, fixture, openStream, startTestServer, type Face } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { listenTo, openChannel, subscribe, valueOf } from '../../test/chat-world.js';
import { MODERATED, openModerated, type Moderated } from '../../test/moderated-channel.js';
import { signUpAll } from '../../test/people.js';
import type { Ban } from './bans.schemas.js';
import type { Subscription } from './subscriptions.schemas.js';

const BANNED = 'Identity is banned from the channel';
const MINUTE = 60_000;
/** What ends acts within a second; this is for a busy machine too. */
const SOON = { timeout: 3000, interval: 20 };

const app = fixture(startTestServer);
/** Another instance, which hears nothing of the first. */
const second = fixture(() => startTestServer({ clock: app.clock }));
const people = fixture(() => signUpAll(app, MODERATED));
let channelId: string;
beforeEach(async () => {
  ({ channelId } = await openModerated(people));
});

const soon = (ms = MINUTE) => new Date(app.clock.now().getTime() + ms).toISOString();
const call = (face: Face, who: Moderated, name: string, input: Record<string, unknown>) =>
  people[who].call(face, `chat.${name}`, input);

describe.each(FACES)('a ban over %s', (face) => {
  const ban = (who: Moderated, target: Moderated, fields: object = {}) =>
    call(face, who, 'createBan', { channelId, identityId: people[target].id, ...fields });
  const lift = (who: Moderated, target: Moderated) => call(face, who, 'deleteBan', { channelId, identityId: people[target].id });
  const join = (by: Moderated = 'member') => call(face, by, 'createSubscription', { channelId, subscribedId: people.member.id });

  it('removes a member, and refuses joining and being added until it is lifted', async () => {
    const events = listenTo(app, channelId);
    const made = valueOf(await ban('moderator', 'member')) as Ban;
    expect(made).toMatchObject({ channelId, identityId: people.member.id, until: null, bannedBy: people.moderator.id });
    const told = { type: 'subscription.deleted', channelId, identityId: people.member.id, role: 'member' };
    await expect.poll(() => events).toEqual([told]);
    for (const who of ['member', 'owner', 'admin'] as const) expect(await join(who)).toEqual(failing(403, BANNED));
    expect(await call(face, 'owner', 'listBans', { channelId })).toMatchObject({ value: { data: [made] } });
    for (const who of ['member', 'stranger'] as const) expect(await lift(who, 'member')).toMatchObject({ status: 403 });
    expect(await lift('moderator', 'member')).toEqual({ ok: true });
    expect(await lift('moderator', 'member')).toEqual(failing(404, 'Ban not found'));
    expect(await join()).toMatchObject({ ok: true });
    await expect.poll(() => events.length).toBe(2);
  });

  it('of the owner stays as it is when the owner bans itself for a shorter time', async () => {
    const made = valueOf(await ban('admin', 'owner'));
    expect(await ban('owner', 'owner', { until: soon() })).toMatchObject({ ok: false, status: 403 });
    expect(await call(face, 'admin', 'listBans', { channelId })).toMatchObject({ value: { data: [made] } });
  });

  it('refuses a message that is posted again with its Idempotency-Key, until who has posted it is a member again', async () => {
    const input = { channelId, senderId: people.member.id, content: 'Hello' };
    const headers = { 'idempotency-key': randomUUID() };
    const post = () => app.call(face, 'chat.createMessage', input, { ...people.member.credentials, headers });
    const first = await post();
    expect(first).toMatchObject({ ok: true });
    expect(await post()).toEqual(first);
    await ban('moderator', 'member');
    expect(await post()).toMatchObject({ ok: false, status: 403 });
    await lift('moderator', 'member');
    await join();
    expect(await post()).toEqual(first);
  });

  it('is given by the owner, moderators and admins, and by moderators to nobody above members', async () => {
    for (const target of ['owner', 'admin', 'other', 'moderator'] as const)
      expect(await ban('moderator', target), target).toMatchObject({ status: 403 });
    for (const who of ['member', 'stranger'] as const) expect(await ban(who, 'stranger')).toMatchObject({ status: 403 });
    expect(await ban('owner', 'moderator')).toMatchObject({ ok: true });
    expect(await ban('moderator', 'member')).toMatchObject({ status: 403 });
    expect(await ban('admin', 'stranger')).toMatchObject({ ok: true });
  });

  it('ends at a time, which another ban of the same identity changes', async () => {
    const first = valueOf(await ban('moderator', 'member')) as Ban;
    const until = soon();
    const next = valueOf(await ban('owner', 'member', { until })) as Ban;
    expect(next).toMatchObject({ id: first.id, until, bannedBy: people.owner.id });
    expect(await call(face, 'owner', 'listBans', { channelId })).toMatchObject({ value: { data: [next] } });
    expect(await join()).toEqual(failing(403, BANNED));
    app.clock.advance(MINUTE + 1);
    expect(await call(face, 'owner', 'listBans', { channelId })).toMatchObject({ value: { data: [] } });
    expect(await lift('owner', 'member')).toEqual(failing(404, 'Ban not found'));
    expect(await join()).toMatchObject({ ok: true });
    const past = await ban('owner', 'member', { until: new Date(0).toISOString() });
    expect(past).toEqual({ ...failing(400, 'Validation Error'), data: ['request body/until must be in the future'] });
    expect(await ban('owner', 'member')).toMatchObject({ ok: true });
  });

  it('needs a channel and an identity that exist', async () => {
    const { id } = await openChannel(people.owner);
    await people.owner.rest('DELETE', `/channels/${id}`).expect(204);
    const given = { channelId: id, identityId: people.member.id };
    expect(await call(face, 'admin', 'createBan', given)).toEqual(failing(404, 'Channel not found'));
    expect(await call(face, 'admin', 'listBans', { channelId: id })).toEqual(failing(404, 'Channel not found'));
    const nobody = { channelId, identityId: id };
    expect(await call(face, 'owner', 'createBan', nobody)).toEqual(failing(404, 'Identity not found'));
    expect(await call(face, 'owner', 'listBans', { channelId })).toMatchObject({ value: { data: [] } });
  });
});

it('a ban closes the streams of the channel within a second, on every instance', async () => {
  const there = await second.signIn(people.member.email);
  const streams = await Promise.all(
    (
      [
        [app, people.member],
        [second, there],
      ] as const
    ).map(async ([server, person]) => {
      const stream = await openStream(server.url, `/messages/listen?channelId=${channelId}`, person.credentials);
      await stream.next('subscribed');
      return stream;
    }),
  );
  await people.moderator.rest('POST', `/channels/${channelId}/bans`, { identityId: people.member.id }).expect(201);
  for (const stream of streams) {
    await expect.poll(() => stream.frames.map(({ type }) => type), SOON).toContain('unsubscribed');
    await stream.close();
  }
});

it('a ban removes the membership of somebody whose account is hidden, who comes back outside', async () => {
  const cid = await app.signUp();
  await subscribe(people.owner, channelId, cid.id);
  await people.owner.rest('POST', `/channels/${channelId}/bans`, { identityId: cid.id }).expect(201);
  await people.admin.rest('DELETE', `/identities/${cid.id}`).expect(204);
  await people.admin.rest('POST', `/identities/${cid.id}/restore`).expect(200);
  const { data } = await people.owner
    .rest('GET', `/subscriptions?channelId=${channelId}&subscribedId=${cid.id}`)
    .expect<{ data: Subscription[] }>(200);
  expect(data).toEqual([]);
});
