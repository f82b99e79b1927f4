import { FACES, failing, fixture, openStream, startTestServer, type Person } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { listenTo, openChannel, say, subscribe, valueOf } from '../../test/chat-world.js';
import { signUpAll } from '../../test/people.js';
import { upload } from '../../test/uploads.js';
import type { Ban } from './bans.schemas.js';
import type { Report } from './reports.schemas.js';
import type { Subscription } from './subscriptions.schemas.js';

const MUTED = 'Identity is muted in the channel';
const BANNED = 'Identity is banned from the channel';
const REFUSED = failing(403, 'Identity is not authorized to access this resource');
const MINUTE = 60_000;
/** What ends acts within a second; this is for a busy machine too. */
const SOON = { timeout: 3000, interval: 20 };

const app = fixture(startTestServer);
/** Another instance, which hears nothing of the first. */
const second = fixture(() => startTestServer({ clock: app.clock }));
const people = fixture(() => signUpAll(app, ['admin', 'owner', 'moderator', 'other', 'member', 'stranger']));
type Who = keyof typeof people;

let channelId: string;
let ids: Record<'moderator' | 'other' | 'member' | 'admin', string>;
const patch = (who: Who, subscriptionId: string, body: object) =>
  people[who].rest('PATCH', `/subscriptions/${subscriptionId}`, body);
beforeEach(async () => {
  const { owner, moderator, other, member, admin } = people;
  ({ id: channelId } = await openChannel(owner, [], { open: true }));
  const join = async (person: Person) => (await subscribe(owner, channelId, person.id)).id;
  ids = { moderator: await join(moderator), other: await join(other), member: await join(member), admin: await join(admin) };
  for (const one of [ids.moderator, ids.other]) await patch('owner', one, { role: 'moderator' }).expect(200);
});

const soon = (ms = MINUTE) => new Date(app.clock.now().getTime() + ms).toISOString();
const call = (face: (typeof FACES)[number], who: Who, name: string, input: Record<string, unknown>) =>
  people[who].call(face, `chat.${name}`, input);

describe.each(FACES)('a role over %s', (face) => {
  const change = (who: Who, subscriptionId: string, fields: object) =>
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
  const mute = (who: Who, subscriptionId: string, mutedUntil: string | null = soon()) =>
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
    const remove = async (who: Who, sender: Who) => {
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

describe.each(FACES)('a ban over %s', (face) => {
  const ban = (who: Who, target: Who, fields: object = {}) =>
    call(face, who, 'createBan', { channelId, identityId: people[target].id, ...fields });
  const lift = (who: Who, target: Who) => call(face, who, 'deleteBan', { channelId, identityId: people[target].id });
  const join = (by: Who = 'member') => call(face, by, 'createSubscription', { channelId, subscribedId: people.member.id });

  it('removes a member, and refuses joining and being added until it is lifted', async () => {
    const events = listenTo(app, channelId);
    const made = valueOf(await ban('moderator', 'member')) as Ban;
    expect(made).toMatchObject({ channelId, identityId: people.member.id, until: null, bannedBy: people.moderator.id });
    expect(events).toEqual([{ type: 'subscription.deleted', channelId, identityId: people.member.id, role: 'member' }]);
    for (const who of ['member', 'owner', 'admin'] as const) expect(await join(who)).toEqual(failing(403, BANNED));
    expect(await call(face, 'owner', 'listBans', { channelId })).toMatchObject({ value: { data: [made] } });
    for (const who of ['member', 'stranger'] as const) expect(await lift(who, 'member')).toMatchObject({ status: 403 });
    expect(await lift('moderator', 'member')).toEqual({ ok: true });
    expect(await lift('moderator', 'member')).toEqual(failing(404, 'Ban not found'));
    expect(await join()).toMatchObject({ ok: true });
    expect(events).toHaveLength(2);
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

describe.each(FACES)('a report over %s', (face) => {
  let messageId: string;
  beforeEach(async () => void ({ id: messageId } = await say(people.member, channelId, 'as it was', { title: 'Tea' })));
  const report = (who: Who, fields: object = {}) => call(face, who, 'createReport', { messageId, reason: 'rude', ...fields });

  it('is made by members, once by each, and keeps the text as it was', async () => {
    const made = valueOf(await report('other')) as Report;
    const ids = { messageId, channelId, senderId: people.member.id, reporterId: people.other.id };
    const said = { reason: 'rude', status: 'open', content: 'as it was', title: 'Tea' };
    expect(made).toMatchObject({ ...ids, ...said });
    expect(await report('other')).toEqual(failing(409, 'Identity has already reported the message'));
    expect(await report('owner')).toMatchObject({ ok: true });
    expect(await report('stranger')).toEqual(failing(403, 'Identity is not subscribed to the channel'));
    expect(await report('owner', { reason: ' ' })).toMatchObject({ status: 400 });
    await people.member.rest('PATCH', `/messages/${messageId}`, { content: 'nicer', title: null }).expect(200);
    await people.member.rest('DELETE', `/messages/${messageId}`).expect(204);
    expect(await call(face, 'admin', 'getReport', { reportId: made.id })).toEqual({ ok: true, value: made });
    expect(await report('admin')).toMatchObject({ status: 403 });
  });

  it('is read and settled by admins', async () => {
    const { id: reportId } = valueOf(await report('other')) as Report;
    for (const who of ['owner', 'moderator', 'other'] as const) {
      expect(await call(face, who, 'listReports', {})).toEqual(REFUSED);
      expect(await call(face, who, 'patchReport', { reportId, status: 'resolved' })).toEqual(REFUSED);
    }
    const change = (fields: object) => call(face, 'admin', 'patchReport', { reportId, ...fields });
    for (const status of ['resolved', 'dismissed', 'open'])
      expect(await change({ status })).toMatchObject({ value: { id: reportId, status } });
    expect(await change({ status: 'closed' })).toMatchObject({ status: 400, message: 'Validation Error' });
    expect(await change({})).toEqual(failing(400, 'Failed to update report'));
    const listed = await call(face, 'admin', 'listReports', { status: 'open', messageId, $expand: 'reporter,sender,channel' });
    expect(listed).toMatchObject({
      value: { data: [{ id: reportId, channel: { id: channelId }, sender: { id: people.member.id } }] },
    });
    expect(await call(face, 'admin', 'patchReport', { reportId: messageId, status: 'open' })).toEqual(
      failing(404, 'Report not found'),
    );
  });
});

it('a change of a member or report takes place only in the version that If-Match names', async () => {
  const { id: messageId } = await say(people.member, channelId);
  const made = await people.other.rest('POST', `/messages/${messageId}/reports`, { reason: 'rude' }).expect<Report>(201);
  for (const [who, path, one, other] of [
    ['owner', `/subscriptions/${ids.member}`, { mutedUntil: soon() }, { mutedUntil: null }],
    ['admin', `/reports/${made.id}`, { status: 'resolved' }, { status: 'dismissed' }],
  ] as const) {
    const { credentials } = people[who];
    const tag = async () => (await app.rest('GET', path, undefined, credentials)).headers.get('etag') ?? '';
    const change = (body: object, match: string) =>
      app.rest('PATCH', path, body, { ...credentials, headers: { 'if-match': match } });
    const before = await tag();
    await change(one, before).expect(200);
    await change(other, before).expect(412, 'Precondition Failed');
    expect(await people[who].rest('GET', path).expect(200)).toMatchObject(one);
    await change(other, await tag()).expect(200);
  }
});
