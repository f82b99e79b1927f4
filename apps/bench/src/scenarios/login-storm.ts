import { eachConnected, type Connection } from '../connection.js';
import { runPaced, type LoadClient } from '../load.js';
import { writeNotifications } from '../notifications.js';
import { PASSWORD, signUp, type Person } from '../people.js';
import type { LatencyScenario } from '../scenario.js';

/** Concurrent logins, repeated, each of another person. */
const LOGINS = 16;
const READERS = 4;
/** Reads per second of each reader: far below the server's capacity, so that their own queue is not measured. */
const READS_PER_SECOND = 25;
const NOTIFICATIONS = 200;

/** How long a page of notifications takes during a login storm, compared with a quiet server. */
export const loginStorm: LatencyScenario = async ({ tandem, db, people }) => {
  const readers = people.slice(0, READERS);
  for (const { id } of readers) await writeNotifications(db, id, NOTIFICATIONS);
  const clients = readers.map(({ id, accessToken }): LoadClient => {
    const headers = { authorization: `Bearer ${accessToken}` };
    return { expected: 200, next: () => ({ method: 'GET', path: `/notifications/identities/${id}`, headers }) };
  });
  const crowd = await signUp(tandem.url, LOGINS);

  async function disturb(): Promise<() => Promise<number>> {
    const over = new AbortController();
    let logins = 0;
    let begin = (): void => {};
    const underWay = new Promise<void>((resolve) => (begin = resolve));

    async function logInAgainAndAgain(connection: Connection, { email }: Person): Promise<void> {
      while (!over.signal.aborted) {
        await connection.send({ method: 'POST', path: '/auth/login', body: { email, password: PASSWORD } }, 200);
        logins++;
        begin();
      }
    }
    const storm = eachConnected(tandem.url, crowd, logInAgainAndAgain);
    // when the first login is done, the others are queued
    await Promise.race([underWay, storm]);
    const start = performance.now();
    const before = logins;
    return async () => {
      const perSecond = (logins - before) / ((performance.now() - start) / 1000);
      over.abort();
      await storm;
      return perSecond;
    };
  }
  return {
    name: 'notification list in a login storm',
    of: 'p99',
    target: 3,
    roundMsFactor: 3,
    measure: (milliseconds) => runPaced(tandem.url, clients, { perSecond: READS_PER_SECOND, milliseconds }),
    disturb,
  };
};
