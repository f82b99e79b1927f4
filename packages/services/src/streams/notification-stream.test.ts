import {
  FACES,
  NO_ID,
  fixture,
  openStream,
  refusalOf,
  startTestServer,
  type Frame,
  type Person,
  type TestStream,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import type { Notification } from '../notifications/notifications.schemas.js';
import { NotificationServerFrame } from './notification-frames.js';

const PATH = '/notifications/listen';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

function listen(person: Person, query = ''): Promise<TestStream> {
  return openStream(app.url, PATH + query, person.credentials);
}
const notify = (person: Person, fields: Record<string, unknown> = {}) =>
  app.tandem.services.notifications.notify(person.id, fields);

describe('the stream of notifications', () => {
  it('says how many are unread, and then what is created and read', async () => {
    const ann = await app.signUp();
    const first = await notify(ann);
    await using stream = await listen(ann);
    expect(await stream.next('ready')).toEqual({ type: 'ready', unread: 1 });

    const second = await notify(ann, { title: 'Grüße' });
    expect(await stream.next('notification.created')).toEqual({ type: 'notification.created', notification: second });
    await ann.rest('POST', `/notifications/${first.id}/read`).expect(204);
    expect(await stream.next('notifications.read')).toEqual({ type: 'notifications.read', ids: [first.id], unread: 1 });
    await ann.rest('POST', `/notifications/identities/${ann.id}/read`, { lastReadNotificationId: second.id }).expect(204);
    expect(await stream.next('notifications.read')).toEqual({ type: 'notifications.read', upTo: second.id, unread: 0 });
    for (const frame of stream.frames) expect(NotificationServerFrame.safeParse(frame).error).toBeUndefined();
  });

  it.each(FACES)('says how many are unread when one of them is deleted, or restored over %s', async (face) => {
    const ann = await app.signUp();
    const { id: notificationId } = await notify(ann);
    await using stream = await listen(ann);
    expect(await stream.next('ready')).toEqual({ type: 'ready', unread: 1 });
    await app.tandem.services.notifications.delete(notificationId);
    expect(await stream.next('notifications.read')).toEqual({ type: 'notifications.read', unread: 0 });
    expect(await admin.call(face, 'notifications.restore', { notificationId })).toMatchObject({ ok: true });
    expect(await stream.next('notifications.read')).toEqual({ type: 'notifications.read', unread: 1 });
    // of an old one as of a new one streams would resume after it
    expect(stream.frames.filter(({ type }) => type === 'notification.created')).toEqual([]);
  });

  it('says nothing of what changes nothing, and nothing of anybody else', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { id } = await notify(ann);
    await ann.rest('POST', `/notifications/${id}/read`).expect(204);
    await using stream = await listen(ann);
    await notify(bob);
    await ann.rest('POST', `/notifications/${id}/read`).expect(204);
    await notify(ann);
    await stream.next('notification.created');
    expect(stream.frames.map(({ type }) => type)).toEqual(['ready', 'notification.created']);
  });

  it('says what a process stored for an event and then died, and nothing that was stored before the event', async () => {
    // what it writes is heard nowhere else
    await using dying = await startTestServer({ mongodbUri: app.mongodbUri, clock: app.clock });
    const ann = await app.signUp();
    await using stream = await listen(ann);
    const at = app.clock.now();
    app.clock.advance(100);
    const untold = { id: crypto.randomUUID(), receiverId: ann.id, at };
    await dying.tandem.services.notifications.notifyOnce([untold]);
    const read = { ...untold, id: crypto.randomUUID() };
    await dying.tandem.services.notifications.notifyOnce([read]);
    await ann.rest('POST', `/notifications/${read.id}/read`).expect(204);
    await app.tandem.services.notifications.notifyOnce([untold, read]);
    app.clock.advance(100);
    await app.tandem.services.notifications.notifyOnce([{ ...untold, at: app.clock.now() }]);
    const last = await notify(ann);
    const isLast = ({ notification }: Frame) => (notification as Notification).id === last.id;
    await stream.next('notification.created', isLast);
    const ids = stream.frames.flatMap(({ notification }) => (notification as Notification | undefined)?.id ?? []);
    expect(ids).toEqual([untold.id, last.id]);
  });

  it('replays what came after the notification that is named by since, oldest first, and goes on', async () => {
    const ann = await app.signUp();
    const anchor = await notify(ann);
    app.clock.advance(60_000);
    const missed = await app.tandem.services.notifications.notifyMany(
      Array.from({ length: 250 }, (_, n) => ({ receiverId: ann.id, n })),
    );
    await using stream = await listen(ann, `?since=${anchor.id}`);
    expect(await stream.next('ready')).toMatchObject({ unread: 251 });
    const last = await notify(ann);
    await stream.next('notification.created', ({ notification }: { notification: Notification }) => notification.id === last.id);
    const ids = stream.frames.flatMap(({ notification }) => (notification as Notification | undefined)?.id ?? []);
    expect([...new Set(ids)]).toEqual([...missed, last].map(({ id }) => id));
    expect(ids).not.toContain(anchor.id);
  });

  it('answers ping, and anything else by an error', async () => {
    const ann = await app.signUp();
    await using stream = await listen(ann);
    stream.send({ type: 'ping' });
    expect(await stream.next('pong')).toEqual({ type: 'pong' });
    stream.send({ type: 'subscribe', channelId: NO_ID });
    expect(await stream.next('error')).toMatchObject({ message: 'Validation Error', channelId: NO_ID });
    stream.send('{');
    expect(await stream.next('error')).toEqual({
      type: 'error',
      message: 'Validation Error',
      errorCode: 'request.invalid',
      data: ['frame must be valid JSON'],
    });
  });

  it('refuses unknown, repeated and malformed parameters, and the notification of somebody else', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { id } = await notify(bob);
    const refusal = async (query: string) => {
      const { status, body } = await refusalOf(app.url, PATH + query, ann.credentials);
      return [status, (body as { error: object }).error];
    };
    const invalid = (text: string) => [400, { message: 'Validation Error', data: [text] }];
    expect(await refusal('?foo=1')).toEqual(invalid("query parameter 'foo' is not allowed"));
    expect(await refusal(`?since=${id}&since=${id}`)).toEqual(invalid("query parameter 'since' must NOT be repeated"));
    expect(await refusal('?since=x')).toEqual(invalid('query parameter \'since\' must match format "uuid"'));
    for (const since of [id, NO_ID])
      expect(await refusal(`?since=${since}`)).toEqual([404, { message: 'Notification not found' }]);
  });
});

describe('two instances', () => {
  it('use each other’s tickets', async () => {
    await using second = await startTestServer({ clock: app.clock });
    const ann = await app.signUp();
    const { ticket } = await ann.rest('POST', `${PATH}/tickets`, {}).expect<{ ticket: string }>(201);
    await using stream = await openStream(second.url, `${PATH}?ticket=${ticket}`);
    expect(await stream.next('ready')).toEqual({ type: 'ready', unread: 0 });
  });
});
