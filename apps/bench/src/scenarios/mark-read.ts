import type { StoredNotification } from '../collections.js';
import { runLoad, type LoadClient } from '../load.js';
import type { MeasuredProcess } from '../measured-process.js';
import { writeNotifications } from '../notifications.js';
import type { Comparison } from '../rounds.js';
import { MANY_CONNECTIONS, WARM_UP_REQUESTS, type Scenario } from '../scenario.js';

/** More than one person can mark in one round; unread again before the next. */
const NOTIFICATIONS = 1500;

/** Marks one notification read, another each time: over one connection of each person, and over many. */
export const markRead: Scenario<Comparison[]> = async ({ tandem, bare, db, people }) => {
  const notifications = db.collection<StoredNotification>('notifications');

  async function sideOf(process: MeasuredProcess, connections: number) {
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
        const clients = owned.flatMap(({ id, accessToken, ids }): LoadClient[] => {
          const headers = { authorization: `Bearer ${accessToken}`, 'x-receiver': id };
          const left = ids.values();
          const client: LoadClient = {
            expected: 204,
            next() {
              const { value } = left.next();
              return value === undefined ? undefined : { method: 'POST', path: `/notifications/${value}/read`, headers };
            },
          };
          return Array.from({ length: connections / people.length }, () => client);
        });
        return runLoad(process.url, clients, milliseconds);
      },
    };
  }
  const comparisonOf = async (
    name: string,
    targets: { target: number; p99Target?: number },
    connections: number,
  ): Promise<Comparison> => ({
    name,
    of: 'cpu',
    ...targets,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: await sideOf(tandem, connections),
    bare: await sideOf(bare, connections),
  });
  return [
    await comparisonOf('mark one read', { target: 1.4 }, people.length),
    await comparisonOf('mark one read, 32 connections', { target: 1.1, p99Target: 1.2 }, MANY_CONNECTIONS),
  ];
};
