import { runLoad, type LoadClient } from '../load.js';
import type { MeasuredProcess } from '../measured-process.js';
import { writeNotifications } from '../notifications.js';
import { WARM_UP_REQUESTS, type Scenario, type Stage } from '../scenario.js';

const NOTIFICATIONS = 200;

/** Clients that read 10 of their 200 notifications. */
export async function readers({ db, people }: Stage): Promise<LoadClient[]> {
  for (const { id } of people) await writeNotifications(db, id, NOTIFICATIONS);
  return people.map(({ id, accessToken }): LoadClient => {
    const headers = { authorization: `Bearer ${accessToken}` };
    return { expected: 200, next: () => ({ method: 'GET', path: `/notifications/identities/${id}`, headers }) };
  });
}

/** A page of 10 of a person's 200 notifications, with the total. */
export const notificationList: Scenario = async (stage) => {
  const clients = await readers(stage);
  const sideOf = (process: MeasuredProcess) => ({ process, run: (ms: number) => runLoad(process.url, clients, ms) });
  return {
    name: 'notification list',
    of: 'cpu',
    target: 1.4,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: sideOf(stage.tandem),
    bare: sideOf(stage.bare),
  };
};
