import { eachConnected } from '../connection.js';
import { runLoad, type LoadClient } from '../load.js';
import { writeNotifications } from '../notifications.js';
import { signUp } from '../people.js';
import { WARM_UP_REQUESTS, type Scenario } from '../scenario.js';

const NOTIFICATIONS = 200;

/** A page of notifications, asked for with an API key, against one asked for with a token, at the same server. */
export const keyedRequest: Scenario = async ({ tandem, db, people: { length } }) => {
  // a key takes a fresh proof: those who signed in for earlier scenarios no longer have one
  const people = await signUp(tandem.url, length);
  const keys: string[] = [];
  await eachConnected(tandem.url, people, async (connection, { id, accessToken }, at) => {
    await writeNotifications(db, id, NOTIFICATIONS);
    const headers = { authorization: `Bearer ${accessToken}` };
    const body = { name: 'a key of the benchmark', scopes: ['notifications.*'] };
    const made = await connection.send({ method: 'POST', path: `/auth/${id}/keys`, headers, body }, 201);
    keys[at] = (JSON.parse(made) as { key: string }).key;
  });
  const sideOf = (credentials: readonly string[]) => {
    const clients = people.map(({ id }, at): LoadClient => {
      const headers = { authorization: `Bearer ${credentials[at]}` };
      return { expected: 200, next: () => ({ method: 'GET', path: `/notifications/identities/${id}`, headers }) };
    });
    return { process: tandem, run: (milliseconds: number) => runLoad(tandem.url, clients, milliseconds) };
  };
  return {
    name: 'a request with an API key',
    of: 'cpu',
    target: 1.05,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: sideOf(keys),
    bare: sideOf(people.map(({ accessToken }) => accessToken)),
  };
};
