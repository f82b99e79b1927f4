import { FACES, failing, fixture, startTestServer, type Face } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { say, valueOf } from '../../test/chat-world.js';
import { MODERATED, openModerated, type Moderated } from '../../test/moderated-channel.js';
import { signUpAll } from '../../test/people.js';
import type { Report } from './reports.schemas.js';

const REFUSED = failing(403, 'Identity is not authorized to access this resource');
const MINUTE = 60_000;

const app = fixture(startTestServer);

const people = fixture(() => signUpAll(app, MODERATED));
let channelId: string;
let ids: Awaited<ReturnType<typeof openModerated>>['ids'];
beforeEach(async () => {
  ({ channelId, ids } = await openModerated(people));
});

const soon = (ms = MINUTE) => new Date(app.clock.now().getTime() + ms).toISOString();
const call = (face: Face, who: Moderated, name: string, input: Record<string, unknown>) =>
  people[who].call(face, `chat.${name}`, input);

describe.each(FACES)('a report over %s', (face) => {
  let messageId: string;
  beforeEach(async () => void ({ id: messageId } = await say(people.member, channelId, 'as it was', { title: 'Tea' })));
  const report = (who: Moderated, fields: object = {}) =>
    call(face, who, 'createReport', { messageId, reason: 'rude', ...fields });

  it('is made by members, once by each, and keeps the text as it was', async () => {
    const made = valueOf(await report('other')) as Report;
    const of = { messageId, channelId, senderId: people.member.id, reporterId: people.other.id };
    const said = { reason: 'rude', status: 'open', content: 'as it was', title: 'Tea' };
    expect(made).toMatchObject({ ...of, ...said });
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

it('events tell of bans and reports, without the texts of messages', async () => {
  const { admin, owner, other, member } = people;
  const last = await admin.rest('GET', '/events?limit=200').expect<{ nextSince: string }>(200);
  const { id: messageId } = await say(member, channelId, 'secret');
  const made = await other.rest('POST', `/messages/${messageId}/reports`, { reason: 'rude' }).expect<Report>(201);
  await admin.rest('PATCH', `/reports/${made.id}`, { status: 'resolved' }).expect(200);
  await owner.rest('POST', `/channels/${channelId}/bans`, { identityId: member.id }).expect(201);
  await owner.rest('DELETE', `/channels/${channelId}/bans/${member.id}`).expect(204);
  const query = `types=report.*,ban.*&since=${last.nextSince}`;
  const { data } = await admin.rest('GET', `/events?${query}`).expect<{ data: { type: string; data: object }[] }>(200);
  expect(data.map(({ type }) => type)).toEqual(['report.created', 'report.updated', 'ban.created', 'ban.deleted']);
  expect(data[1]?.data).toMatchObject({ id: made.id, reason: 'rude', status: 'resolved' });
  expect(data[3]?.data).toMatchObject({ channelId, identityId: member.id, until: null });
  expect(JSON.stringify(data)).not.toContain('secret');
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
