import type { StoredNotification } from '../collections.js';
import { runLoad, type LoadClient } from '../load.js';
import type { MeasuredProcess } from '../measured-process.js';
import { writeNotifications } from '../notifications.js';
import { WARM_UP_REQUESTS, type Scenario } from '../scenario.js';

/** More than one person can mark in one round; unread again before the next. */
const NOTIFICATIONS = 1500;

/** Marks one notification read, another each time. */
export const markRead: Scenario = async ({ tandem, bare, db, people }) => {
  const notifications = db.collection<StoredNotification>('notifications');

  async function sideOf(process: MeasuredProcess) {
    const owned: { id: string; accessToken: string; ids: string[] }[] = [];
    for (const { id, accessToken } of people)
      owned.push({ id, accessToken, ids: await writeNotifications(db, id, NOTIFICATIONS) });
    const all = owned.flatMap(({ ids }) => ids);
    return {
      process,
      async prepare() {
        await notifications.updateMany({ _id: { $in: all }, isRead: true }, { $set: { isRead: false } });
      },
      run(milliseconds: number) {
        const clients = owned.map(({ id, accessToken, ids }): LoadClient => {
          const headers = { authorization: `Bearer ${accessToken}`, 'x-receiver': id };
          const left = ids.values();
          return {
            expected: 204,
            next() {
              const { value } = left.next();
              return value === undefined ? undefined : { method: 'POST', path: `/notifications/${value}/read`, headers };
            },
          };
        });
        return runLoad(process.url, clients, milliseconds);
      },
    };
  }
  return {
    name: 'mark one read',
    of: 'cpu',
    target: 1.4,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: await sideOf(tandem),
    bare: await sideOf(bare),
  };
};
