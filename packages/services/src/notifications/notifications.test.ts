import { FACES, NO_ID, OK, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { notificationModel } from './notification.model.js';
import type { Notification } from './notifications.schemas.js';

type Page = { data: Notification[]; metadata: { pagination: Record<string, unknown> } };

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

function notify(person: Person, fields: Record<string, unknown> = {}) {
  return app.tandem.services.notifications.notify(person.id, fields);
}

/** Writes as a host does that knows the collection and not our code. */
function hostWrites(records: Record<string, unknown>[]) {
  const { db } = app.storage.model(notificationModel);
  return db.collection<Record<string, unknown>>('notifications').insertMany(records);
}

async function unreadIds(person: Person): Promise<string[]> {
  const { data } = await person.rest('GET', `/notifications/identities/${person.id}?limit=50`).expect<Page>(200);
  return data.filter(({ isRead }) => !isRead).map(({ id }) => id);
}

describe.each(FACES)('notifications over %s', (face) => {
  it('lists newest first, with what the host wrote and the pagination of the spec', async () => {
    const ann = await app.signUp();
    const first = await notify(ann, { title: 'first', payload: { order: 1 } });
    const second = await notify(ann, { title: 'second' });
    await notify(await app.signUp());

    const outcome = await ann.call(face, 'notifications.list', { identityId: ann.id });

    expect(outcome).toEqual({
      ok: true,
      value: {
        data: [second, first],
        metadata: { pagination: { page: 1, limit: 10, total: 2, totalPages: 1, hasNext: false, hasPrev: false } },
      },
    });
    expect(first).toMatchObject({ receiverId: ann.id, isRead: false, title: 'first', payload: { order: 1 } });
  });

  it('pages, and answers a page past the end with the requested page and no data', async () => {
    const ann = await app.signUp();
    await app.tandem.services.notifications.notifyMany(Array.from({ length: 5 }, (_, n) => ({ receiverId: ann.id, n })));
    const list = async (page: number) => {
      const outcome = await ann.call(face, 'notifications.list', { identityId: ann.id, page, limit: 2 });
      return (outcome as { value: Page }).value;
    };

    expect((await list(2)).data.map(({ n }) => n)).toEqual([2, 1]);
    expect((await list(2)).metadata.pagination).toEqual({
      page: 2,
      limit: 2,
      total: 5,
      totalPages: 3,
      hasNext: true,
      hasPrev: true,
    });
    expect(await list(9)).toEqual({
      data: [],
      metadata: { pagination: { page: 9, limit: 2, total: 5, totalPages: 3, hasNext: false, hasPrev: true } },
    });
  });

  it('filters by what is read, and no condition reaches another identity’s notifications', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const [first] = [await notify(ann), await notify(ann), await notify(bob)];
    await ann.call(face, 'notifications.markRead', { notificationId: first.id });
    const ask = (query: Record<string, unknown>) => ann.call(face, 'notifications.list', { identityId: ann.id, ...query });

    const groups = await ask({ $apply: 'groupby((isRead), aggregate($count as n))', $orderby: 'isRead desc' });
    expect(groups).toEqual({ ok: true, value: { total: 2, count: 2, value: [{ isRead: true, n: 1 }, { isRead: false, n: 1 }] } }); // prettier-ignore
    expect(await ask({ $filter: `id ne '${first.id}' or isRead eq true or isRead ne true`, $top: 0 })).toMatchObject({ value: { total: 2, value: [] } }); // prettier-ignore
    expect(await ask({ $filter: `receiverId eq '${bob.id}'` })).toMatchObject({ ok: false, status: 400 });
  });

  it('answers an empty list with one page', async () => {
    const ann = await app.signUp();
    expect(await ann.call(face, 'notifications.list', { identityId: ann.id })).toMatchObject({
      value: {
        data: [],
        metadata: { pagination: { page: 1, limit: 10, total: 0, totalPages: 1, hasNext: false, hasPrev: false } },
      },
    });
  });

  it.each(['notifications.list', 'notifications.unreadCount', 'notifications.markReadUpTo'])(
    '%s answers 403 for somebody else, also for the admin, and before the input is validated',
    async (procedure) => {
      const ann = await app.signUp();
      const refused = { ok: false, status: 403, message: 'Identity ID does not match' };
      expect(await ann.call(face, procedure, { identityId: admin.id, bad: 1 })).toEqual(refused);
      expect(await admin.call(face, procedure, { identityId: ann.id })).toEqual(refused);
      expect(await ann.call(face, procedure, { identityId: 'no-uuid' })).toEqual(refused);
    },
  );

  it('reports every problem of page and limit at once', async () => {
    const ann = await app.signUp();
    expect(await ann.call(face, 'notifications.list', { identityId: ann.id, page: 0, limit: 51, foo: 1 })).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: [
        "query parameter 'page' must be >= 1",
        "query parameter 'limit' must be <= 50",
        "query parameter 'foo' is not allowed",
      ],
    });
    expect(await ann.call(face, 'notifications.list', { identityId: ann.id, page: 1001, limit: 1.5 })).toMatchObject({
      data: ["query parameter 'page' must be <= 1000", "query parameter 'limit' must be integer"],
    });
  });

  it('marks one read; a read one stays unchanged', async () => {
    const ann = await app.signUp();
    const { id } = await notify(ann);
    expect(await ann.call(face, 'notifications.markRead', { notificationId: id })).toEqual(OK);
    const page = await ann.rest('GET', `/notifications/identities/${ann.id}`).expect<Page>(200);
    expect(page.data).toMatchObject([{ id, isRead: true }]);

    app.clock.advance(1000);
    expect(await ann.call(face, 'notifications.markRead', { notificationId: id })).toEqual(OK);
    expect(await ann.rest('GET', `/notifications/identities/${ann.id}`).expect(200)).toEqual(page);
  });

  it("answers 403 for somebody else's notification, and Invalid owner ID for a missing one", async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { id } = await notify(bob);
    const refused = { ok: false, status: 403, message: 'Identity is not the owner of the resource' };
    expect(await ann.call(face, 'notifications.markRead', { notificationId: id })).toEqual(refused);
    expect(await admin.call(face, 'notifications.markRead', { notificationId: id })).toEqual(refused);
    const missing = { ok: false, status: 403, message: 'Invalid owner ID' };
    expect(await ann.call(face, 'notifications.markRead', { notificationId: NO_ID })).toEqual(missing);
    expect(await ann.call(face, 'notifications.markRead', { notificationId: 'no-uuid' })).toEqual(missing);
    expect(await unreadIds(bob)).toEqual([id]);
  });

  it('marks up to and including the anchor: among equal times those with an id not greater', async () => {
    const ann = await app.signUp();
    const at = app.clock.now();
    const written = (suffix: string, milliseconds: number) => ({
      _id: `01890000-0000-7000-8000-${ann.id.slice(-10)}${suffix}`,
      receiverId: ann.id,
      isRead: false,
      createdAt: new Date(at.getTime() + milliseconds),
      updatedAt: at,
    });
    const [older, same, anchor, sameButGreater, newer] = [written('10', -1), written('20', 0), written('30', 0), written('40', 0), written('05', 1)]; // prettier-ignore
    await hostWrites([older, same, anchor, sameButGreater, newer]);

    expect(
      await ann.call(face, 'notifications.markReadUpTo', { identityId: ann.id, lastReadNotificationId: anchor._id }),
    ).toEqual(OK);

    expect(await unreadIds(ann)).toEqual([newer._id, sameButGreater._id]);
  });

  it("answers 404 for a missing anchor and for somebody else's, and marks nothing", async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const [hers, his] = [await notify(ann), await notify(bob)];
    const missing = { ok: false, status: 404, message: 'Notification not found' };
    for (const lastReadNotificationId of [his.id, NO_ID])
      expect(await ann.call(face, 'notifications.markReadUpTo', { identityId: ann.id, lastReadNotificationId })).toEqual(missing);
    expect([await unreadIds(ann), await unreadIds(bob)]).toEqual([[hers.id], [his.id]]);
  });

  it('requires the anchor in the body', async () => {
    const ann = await app.signUp();
    expect(await ann.call(face, 'notifications.markReadUpTo', { identityId: ann.id })).toMatchObject({
      status: 400,
      data: ["request body must have required property 'lastReadNotificationId'"],
    });
    expect(
      await ann.call(face, 'notifications.markReadUpTo', { identityId: ann.id, lastReadNotificationId: 5, foo: 1 }),
    ).toMatchObject({
      data: ['request body/lastReadNotificationId must be string', "request body must NOT have additional properties: 'foo'"],
    });
  });

  it('counts the unread', async () => {
    const ann = await app.signUp();
    const [first] = [await notify(ann), await notify(ann)];
    await ann.call(face, 'notifications.markRead', { notificationId: first.id });
    expect(await ann.call(face, 'notifications.unreadCount', { identityId: ann.id })).toEqual({ ok: true, value: { unread: 1 } });
  });

  it('hides what is deleted, until the admin restores it', async () => {
    const ann = await app.signUp();
    const notification = await notify(ann, { title: 'gone and back' });
    await app.tandem.services.notifications.delete(notification.id);
    expect(await unreadIds(ann)).toEqual([]);
    expect(await ann.call(face, 'notifications.markRead', { notificationId: notification.id })).toMatchObject({
      message: 'Invalid owner ID',
    });

    const restore = (person: Person) => person.call(face, 'notifications.restore', { notificationId: notification.id });
    expect(await restore(ann)).toEqual({ ok: false, status: 403, message: 'Identity is not authorized to access this resource' });
    expect(await restore(admin)).toMatchObject({ ok: true, value: { id: notification.id, title: 'gone and back' } });
    expect(await restore(admin)).toEqual({ ok: false, status: 404, message: 'Notification not found' });
    expect(await unreadIds(ann)).toEqual([notification.id]);
  });
});

describe('notifications that a host wrote into the collection', () => {
  it('count as unread without isRead, and show neither the store’s fields nor a made-up id', async () => {
    const ann = await app.signUp();
    const at = app.clock.now();
    const _id = crypto.randomUUID();
    await hostWrites([{ _id, id: 'made up', __v: 3, receiverId: ann.id, createdAt: at, updatedAt: at, title: 'bare' }]);

    const { data } = await ann.rest('GET', `/notifications/identities/${ann.id}`).expect<Page>(200);
    const time = at.toISOString();
    expect(data).toEqual([{ id: _id, receiverId: ann.id, isRead: false, createdAt: time, updatedAt: time, title: 'bare' }]);
    expect(await app.tandem.services.notifications.unreadCount(ann.id)).toBe(1);

    await ann.rest('POST', `/notifications/identities/${ann.id}/read`, { lastReadNotificationId: _id }).expect(204);
    expect(await unreadIds(ann)).toEqual([]);
  });
});

describe('notify', () => {
  it('sets its own fields, whatever the host gives', async () => {
    const ann = await app.signUp();
    const given = { id: NO_ID, _id: NO_ID, isRead: true, deletedAt: new Date(), createdAt: new Date(0), title: 'kept' };
    const notification = await notify(ann, given);
    expect(notification).toMatchObject({ receiverId: ann.id, isRead: false, title: 'kept' });
    expect(notification.id).not.toBe(NO_ID);
    expect(notification.createdAt > '2020').toBe(true);
    expect(await unreadIds(ann)).toEqual([notification.id]);
  });

  it('refuses field names that the store would read as an operator or path, and stores nothing', async () => {
    const ann = await app.signUp();
    await expect(notify(ann, { $where: 'x' })).rejects.toThrow(TypeError);
    await expect(notify(ann, { 'a.b': 1 })).rejects.toThrow(TypeError);
    const mixed = [{ receiverId: ann.id }, { receiverId: '' }];
    await expect(app.tandem.services.notifications.notifyMany(mixed)).rejects.toThrow(TypeError);
    expect(await unreadIds(ann)).toEqual([]);
  });
});

describe('marking up to an anchor while others write', () => {
  it('marks exactly those up to the anchor, of thousands, while new ones arrive', async () => {
    const ann = await app.signUp();
    const { notifications } = app.tandem.services;
    const many = await notifications.notifyMany(Array.from({ length: 3000 }, (_, n) => ({ receiverId: ann.id, n })));
    const anchor = many[1999] as Notification;

    const [, arrived] = await Promise.all([
      ann.rest('POST', `/notifications/identities/${ann.id}/read`, { lastReadNotificationId: anchor.id }).expect(204),
      notifications.notifyMany(Array.from({ length: 200 }, () => ({ receiverId: ann.id }))),
    ]);

    expect(arrived).toHaveLength(200);
    expect(await notifications.unreadCount(ann.id)).toBe(1000 + 200);
  });
});
