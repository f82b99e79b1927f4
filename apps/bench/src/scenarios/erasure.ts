import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { eachConnected } from '../connection.js';
import { openChannel } from '../channels.js';
import { runPaced, type LoadClient } from '../load.js';
import { writeNotifications } from '../notifications.js';
import { signUp } from '../people.js';
import { insert, record } from '../rows.js';
import type { LatencyScenario } from '../scenario.js';

const MESSAGES = 100_000;
/** In which they are to be erased. */
const SECONDS = 60;
const READERS = 4;
const READS_PER_SECOND = 25;
const NOTIFICATIONS = 200;
const TEXT = 'About what was said of this and that, at some length';
const LOOK_MS = 100;

/** What tells how far an erasure has come. */
interface Found {
  purging?: boolean;
  erasure?: { round?: number };
}

/** An id of now, as the log of events has them. */
function idOfNow(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** How long a page of notifications takes while somebody with many messages is erased, texts and all. */
export const erasure: LatencyScenario = async ({ tandem, db }) => {
  const readers = await signUp(tandem.url, READERS);
  for (const { id } of readers) await writeNotifications(db, id, NOTIFICATIONS);
  const clients = readers.map(({ id, accessToken }): LoadClient => {
    const headers = { authorization: `Bearer ${accessToken}` };
    return { expected: 200, next: () => ({ method: 'GET', path: `/notifications/identities/${id}`, headers }) };
  });

  async function disturb(): Promise<() => Promise<number>> {
    const people = await signUp(tandem.url, 2);
    const [person] = people;
    if (!person) throw new Error('nobody has signed up');
    const channelId = await openChannel(tandem.url, people.toReversed());
    const messages = Array.from({ length: MESSAGES }, (_, at) => {
      const numbers = { seq: at + 1, change: at + 1_000_000 };
      return record(at, { channelId, senderId: person.id, content: `${TEXT} ${at}`, title: null, clientId: null, ...numbers });
    });
    await insert(db, 'messages', messages);
    const events = messages.map((state) => {
      const actor = { type: 'identity', id: person.id };
      const about = { subject: { type: 'message', id: state._id }, organizationId: null, actor };
      return { _id: idOfNow(), type: 'message.created', at: new Date(), ...about, state };
    });
    await insert(db, 'events', events);
    await eachConnected(tandem.url, [person], async (connection, { id, accessToken }) => {
      const headers = { authorization: `Bearer ${accessToken}` };
      await connection.send({ method: 'POST', path: `/auth/${id}/erase`, headers, body: {} }, 202);
    });
    const identities = db.collection<Found & { _id: string }>('identities');
    const until = async (isSo: (found: Found | null) => boolean) => {
      while (!isSo(await identities.findOne({ _id: person.id }))) await wait(LOOK_MS);
    };
    await until((found) => found?.purging === true);
    const start = performance.now();
    return async () => {
      // what follows waits for what may come late
      await until((found) => found === null || (found.erasure?.round ?? 0) > 0);
      const seconds = (performance.now() - start) / 1000;
      await db.collection('messages').deleteMany({ channelId });
      return MESSAGES / seconds;
    };
  }
  return {
    name: 'notification list while 100,000 messages are erased',
    of: 'p99',
    target: 2,
    atLeast: MESSAGES / SECONDS,
    roundMsFactor: 8,
    roundsMax: 3,
    measure: (milliseconds) => runPaced(tandem.url, clients, { perSecond: READS_PER_SECOND, milliseconds }),
    disturb,
  };
};
