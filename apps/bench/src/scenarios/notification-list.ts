import { runLoad, type LoadClient } from '../load.js';
import type { MeasuredProcess } from '../measured-process.js';
import { writeNotifications } from '../notifications.js';
import { WARM_UP_REQUESTS, type Scenario } from '../scenario.js';

const NOTIFICATIONS = 200;

/** A page of 10 of a person's 200 notifications, with the total. */
export const notificationList: Scenario = async ({ tandem, bare, db, people }) => {
  for (const { id } of people) await writeNotifications(db, id, NOTIFICATIONS);
  const clients = people.map(({ id, accessToken }): LoadClient => {
    const headers = { authorization: `Bearer ${accessToken}` };
    return { expected: 200, next: () => ({ method: 'GET', path: `/notifications/identities/${id}`, headers }) };
  });
  const sideOf = (process: MeasuredProcess) => ({ process, run: (ms: number) => runLoad(process.url, clients, ms) });
  return {
    name: 'notification list',
    of: 'cpu',
    target: 1.4,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: sideOf(tandem),
    bare: sideOf(bare),
  };
};
