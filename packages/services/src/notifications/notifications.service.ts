import type { EventBus } from '@tandem/core';
import type { ListAnswer, ListQuery, Lists } from '@tandem/lists';
import { MAJORITY, newId, present, type Presented, type Storage } from '@tandem/storage';
import { insertNew } from '../shared/insert-new.js';
import { notificationModel, type NotificationRecord } from './notification.model.js';
import { notificationTopic, type NotificationEvent } from './notification-events.js';
import { notificationErrors } from './notifications.errors.js';
import { notificationList, type Notification } from './notifications.schemas.js';

export type NotificationsService = ReturnType<typeof createNotificationsService>;
type ShownNotification = Presented<NotificationRecord> & { isRead: boolean };

/** Fields that only the service sets. */
const OWN_FIELDS = ['_id', 'id', 'receiverId', 'isRead', 'createdAt', 'updatedAt', 'deletedAt'];
/** Matches missing `isRead` as unread, in a form that the index serves. */
const UNREAD = { isRead: { $in: [false, null] } };

function show(record: NotificationRecord): ShownNotification {
  return Object.assign(present(record), { isRead: record.isRead ?? false });
}

/** The host's fields without the service's own. @throws TypeError for a name that MongoDB would read as an operator or path */
function hostFields(fields: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(fields).filter(([name]) => !OWN_FIELDS.includes(name));
  const bad = entries.find(([name]) => name.startsWith('$') || name.includes('.') || name === '__proto__');
  if (bad) throw new TypeError(`a notification's field cannot be named ${bad[0]}`);
  return Object.fromEntries(entries);
}

/** Notifications, for the host application and the router. Ids are UUID strings; nothing here depends on HTTP. */
export function createNotificationsService({ storage, bus, lists }: { storage: Storage; bus: EventBus; lists: Lists }) {
  const Notifications = storage.model(notificationModel);
  // frequent queries use the driver: they need no casts, and Mongoose would double their cost
  const { collection } = Notifications;
  const live = (filter: object): object => ({ ...filter, deletedAt: null });
  const showOne = lists.one(notificationList, show);
  const publish = (receiverId: string, event: NotificationEvent) => bus.publish(notificationTopic(receiverId), event);

  return {
    /** The receiver of a notification; undefined when it does not exist. For the owner rule. */
    async receiverOf(notificationId: string): Promise<string | undefined> {
      const found = await collection.findOne(live({ _id: notificationId }), { projection: { receiverId: 1 } });
      return (found as unknown as NotificationRecord | null)?.receiverId;
    },

    list(receiverId: string, query: ListQuery): Promise<ListAnswer<Notification>> {
      return lists.answer(notificationList, Notifications, { scope: { receiverId }, show }, query);
    },

    unreadCount(receiverId: string): Promise<number> {
      return Notifications.countDocuments({ receiverId, ...UNREAD });
    },

    /** Creation time of the receiver's notification, even if deleted; undefined when there is none. */
    async createdAtOf(notificationId: string, receiverId: string): Promise<Date | undefined> {
      const query = Notifications.findOne({ _id: notificationId, receiverId }, { createdAt: 1 });
      return (await query.setOptions({ deleted: 'include' }).lean<NotificationRecord>())?.createdAt;
    },

    /**
     * The receiver's notifications since a time, oldest first, read in pages, without those that do not fit the schema (decisions
     * H20). Reads with majority concern, because streams replay the result.
     */
    async *createdSince(receiverId: string, { createdAt }: { createdAt: Date }, page: number): AsyncGenerator<Notification> {
      let after: object = { createdAt: { $gte: createdAt } };
      for (;;) {
        const paged = { sort: { createdAt: 1, _id: 1 }, limit: page, ...MAJORITY } as const;
        const records = await Notifications.find({ receiverId, ...after }, undefined, paged).lean<NotificationRecord[]>();
        yield* records.flatMap((record) => lists.fit(notificationList, record, show) ?? []);
        const last = records.at(-1);
        if (!last || records.length < page) return;
        after = {
          createdAt: { $gte: last.createdAt },
          $or: [{ createdAt: { $gt: last.createdAt } }, { _id: { $gt: last._id } }],
        };
      }
    },

    /**
     * Marks one of the receiver's notifications as read. Idempotent.
     * @throws notificationErrors.notFound when it is missing or another identity's
     */
    async markRead(notificationId: string, receiverId: string): Promise<void> {
      const own = { _id: notificationId, receiverId };
      const read = { $set: { isRead: true, updatedAt: storage.clock.now() } };
      const { modifiedCount } = await collection.updateOne(live({ ...own, ...UNREAD }), read);
      if (modifiedCount > 0) return publish(receiverId, { type: 'notifications.read', ids: [notificationId] });
      if (!(await Notifications.exists(own))) throw notificationErrors.notFound();
    },

    /**
     * Marks the receiver's notifications as read up to and including the anchor: `createdAt` earlier, or equal with `id` not
     * greater (decisions R9).
     * @throws notificationErrors.notFound when the anchor is missing or another identity's
     */
    async markReadUpTo(receiverId: string, anchorId: string): Promise<void> {
      const anchor = await Notifications.findOne({ _id: anchorId, receiverId }, { createdAt: 1 }).lean<NotificationRecord>();
      if (!anchor) throw notificationErrors.notFound();
      const { createdAt } = anchor;
      const { modifiedCount } = await Notifications.updateMany(
        {
          receiverId,
          ...UNREAD,
          createdAt: { $lte: createdAt },
          $or: [{ createdAt: { $lt: createdAt } }, { _id: { $lte: anchorId } }],
        },
        { isRead: true },
      );
      if (modifiedCount > 0) publish(receiverId, { type: 'notifications.read', upTo: anchorId });
    },

    /**
     * Host API: stores a notification and sends it to the receiver's open streams.
     * @param fields the application's own; the service's fields in it are ignored
     * @throws TypeError for a field name that starts with `$` or contains a dot
     */
    async notify(receiverId: string, fields: Record<string, unknown> = {}): Promise<ShownNotification> {
      const [notification] = await this.notifyMany([{ ...fields, receiverId }]);
      return notification as ShownNotification;
    },

    /**
     * Host API: stores many notifications in order, by one write. If it throws, some may be stored.
     * @throws TypeError, before anything is stored, for a missing receiver or a field name that starts with `$` or contains a dot
     */
    async notifyMany(notifications: readonly ({ receiverId: string } & Record<string, unknown>)[]): Promise<ShownNotification[]> {
      const given = notifications.map(({ receiverId, ...fields }) => {
        if (typeof receiverId !== 'string' || receiverId === '') throw new TypeError('a notification needs a receiverId');
        return { ...hostFields(fields), _id: newId(storage.clock), receiverId, isRead: false };
      });
      if (given.length === 0) return [];
      const stored = await Notifications.insertMany(given);
      return stored.map((document) => {
        const notification = show((document as unknown as { toObject(): NotificationRecord }).toObject());
        publish(notification.receiverId, { type: 'notification.created', notification });
        return notification;
      });
    },

    /**
     * Stores notifications that have ids of their own, each once, and sends the new ones to open streams.
     * @param given with the time of what each tells of
     */
    async notifyOnce(given: readonly ({ id: string; receiverId: string; at: Date } & Record<string, unknown>)[]): Promise<void> {
      const times = new Map(given.map(({ id, at }) => [id, at]));
      const ids = { _id: { $in: [...times.keys()] } } as object;
      const known = (await collection.find(ids).toArray()) as unknown as NotificationRecord[];
      const stored = new Set(known.map(({ _id }) => _id));
      const now = storage.clock.now();
      const own = { isRead: false, createdAt: now, updatedAt: now, deletedAt: null };
      const records = new Map(given.map(({ id, at, ...fields }) => [id, { _id: id, ...fields, ...own }]));
      const fresh = [...records.values()].filter(({ _id }) => !stored.has(_id)) as NotificationRecord[];
      await insertNew(Notifications, fresh);
      // a process may have died after storing it for this event; one from before this event, as an edit's, was sent
      const untold = known.filter((one) => !one.isRead && one.deletedAt === null && one.createdAt > (times.get(one._id) ?? now));
      for (const one of [...untold, ...fresh]) publish(one.receiverId, { type: 'notification.created', notification: show(one) });
    },

    /**
     * Keeps deleted notifications of a kind at least as long as what they tell of, so that `notifyOnce` knows them.
     * @param field holds the id of that
     * @param existing finds which of such ids exist
     */
    keepWith(kind: string, field: string, existing: (ids: readonly string[]) => Promise<ReadonlySet<string>>): void {
      storage.people.keep(Notifications.collection.collectionName, async (ids) => {
        const which = { _id: { $in: [...ids] }, kind } as object;
        const found = (await collection.find(which, { projection: { [field]: 1 } }).toArray()) as unknown as NotificationRecord[];
        const left = await existing(found.map((one) => String(one[field])));
        const kept = found.flatMap((one) => (left.has(String(one[field])) ? one._id : []));
        // as deleted now: else each pass would look at all of them again
        const stillDeleted = { _id: { $in: kept }, deletedAt: { $gt: new Date(0) } } as object;
        if (kept.length > 0) await collection.updateMany(stillDeleted, { $set: { deletedAt: storage.clock.now() } });
        return new Set(kept);
      });
    },

    /** Host API: soft-deletes a notification. @throws notificationErrors.notFound */
    async delete(notificationId: string): Promise<void> {
      const deleted = await Notifications.findOneAndDelete({ _id: notificationId }).lean<NotificationRecord>();
      if (!deleted) throw notificationErrors.notFound();
      publish(deleted.receiverId, { type: 'notifications.read' });
    },

    /** @throws notificationErrors.notFound when there is nothing to restore */
    async restore(notificationId: string): Promise<Notification> {
      const notification = showOne(await Notifications.restore(notificationId), notificationErrors.notFound);
      // not as created: streams resume after the newest that they have told
      publish(notification.receiverId, { type: 'notifications.read' });
      return notification;
    },
  };
}
