import { setTimeout as wait } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { openChannel } from '../channels.js';
import { enrol } from '../crowds.js';
import { percentile, runPaced, type LoadClient } from '../load.js';
import type { Memory } from '../measured-child.js';
import type { Need, NeedComparison } from '../needs.js';
import { writeNotifications } from '../notifications.js';
import { PASSWORD, signUp, type Somebody } from '../people.js';
import { spreadOf } from '../rounds.js';
import type { Scenario } from '../scenario.js';
import { openReader } from '../sockets.js';

/** Of a day, as long as there is time for; the first sixth warms up, the second is compared with the last. */
const WINDOWS = 30;
const WINDOW_MS = 60_000;
const QUICK_WINDOW_MS = 4000;
const PART = WINDOWS / 6;

const PEOPLE = 40;
const READERS = 200;
/** Streams that are cut off, and opened, in a second. */
const LEAVING = 5;
const NOTIFICATIONS = 200;
const READS_PER_SECOND = 3;
const POSTS_PER_SECOND = 1;
const LOGINS_PER_SECOND = 0.5;

/** What one window shows of the server that stays. */
interface Window {
  memory: number;
  files: number;
  latencies: number[];
  /** Answers other than the expected ones. */
  failures: number;
}

/**
 * Reads, posts, sign-ins and streams that come and go at two servers with a Redis between them, of which one is killed in every
 * window: whether the other needs more memory and files with time, and becomes slower.
 */
export const day: Scenario<NeedComparison[]> = async (stage) => {
  const settings = { REDIS_URL: (await stage.startRedis()).url };
  const server = await stage.start('tandem-server', settings);
  const people = await enrol(server, stage.db, PEOPLE);
  const [known] = await signUp(server.url, 1);
  for (const { id } of people) await writeNotifications(stage.db, id, NOTIFICATIONS);
  const channelId = await openChannel(server.url, people);
  const personOf = (turn: number) => people[turn % PEOPLE] as Somebody;
  const headersOf = ({ accessToken }: Somebody) => ({ authorization: `Bearer ${accessToken}` });

  const reading = people.slice(0, 8).map((person, at): LoadClient => {
    const { id } = person;
    const paths = [`/notifications/identities/${id}`, `/messages?channelId=${channelId}`, '/products', `/identities/${id}`];
    let turn = at;
    return {
      expected: 200,
      next: () => ({ method: 'GET', path: paths[turn++ % paths.length] as string, headers: headersOf(person) }),
    };
  });
  const posting = people.slice(0, 4).map((person, at): LoadClient => ({
    expected: 201,
    next: () => ({ method: 'POST', path: '/messages', headers: headersOf(person), body: { channelId, senderId: person.id, content: `From ${at}` } }), // prettier-ignore
  }));
  const signingIn: LoadClient = {
    expected: 200,
    next: () => ({ method: 'POST', path: '/auth/login', body: { email: known?.email, password: PASSWORD } }),
  };

  const isRead = (stream: WebSocket) => stream.readyState === stream.OPEN;
  let streams: WebSocket[] = [];
  let opened = 0;
  const openOne = () => openReader(server.url, channelId, personOf(opened++).accessToken);
  /** Clients that vanish, and new ones in their places. */
  async function comeAndGo(milliseconds: number): Promise<void> {
    for (const end = performance.now() + milliseconds; performance.now() < end; await wait(1000)) {
      for (const stream of streams.splice(0, LEAVING)) stream.terminate();
      const lost = streams.filter((stream) => !isRead(stream)).length;
      if (lost > 0) throw new Error(`${lost} streams were closed`);
      while (streams.length < READERS) streams.push(await openOne());
    }
  }
  /** Another server, with traffic of its own until it is killed. */
  async function dieAfter(milliseconds: number): Promise<void> {
    const other = await stage.startServer('tandem', settings);
    await other.firstAnswer({ method: 'GET', path: '/products' });
    const failed = () => {};
    const traffic = [
      runPaced(other.url, reading, { perSecond: READS_PER_SECOND, milliseconds, failed }),
      runPaced(other.url, posting, { perSecond: POSTS_PER_SECOND, milliseconds, failed }),
    ];
    // in the midst of it
    await wait(milliseconds / 2);
    await other.kill();
    await Promise.allSettled(traffic);
  }

  async function window(milliseconds: number): Promise<Window> {
    let failures = 0;
    const failed = () => void (failures += 1);
    const [latencies] = await Promise.all([
      runPaced(server.url, reading, { perSecond: READS_PER_SECOND, milliseconds, failed }),
      runPaced(server.url, posting, { perSecond: POSTS_PER_SECOND, milliseconds, failed }),
      runPaced(server.url, [signingIn], { perSecond: LOGINS_PER_SECOND, milliseconds, failed }),
      comeAndGo(milliseconds),
      dieAfter(milliseconds * 0.8),
    ]);
    const { used } = await server.ask<Memory>('memory');
    return { memory: used, files: await server.ask<number>('files'), latencies, failures };
  }
  const windows: Window[] = [];
  for (let at = 0; at < WINDOWS; at++) windows.push(await window(stage.isQuick ? QUICK_WINDOW_MS : WINDOW_MS));
  for (const stream of streams) stream.terminate();
  streams = [];

  const [early, late] = [windows.slice(PART, 2 * PART), windows.slice(-PART)];
  const compared = (figure: (window: Window) => number): Need[] => {
    const [tandem, bare] = [late, early].map((part) => spreadOf(part.map(figure)).median) as [number, number];
    return [{ tandem, bare }];
  };
  const shared = { of: 'need', against: 'after a sixth of the time' } as const;
  const timeOf = (share: number) => compared(({ latencies }) => percentile(latencies, share) * 1000);
  return [
    { ...shared, name: 'a day: memory', unit: 'bytes', ratioTarget: 1.05, measure: async () => compared(({ memory }) => memory) },
    {
      ...shared,
      name: 'a day: open files',
      unit: 'files',
      ratioTarget: 1.05,
      measure: async () => compared(({ files }) => files),
    },
    {
      name: 'a day: answers other than expected',
      of: 'need',
      unit: 'answers',
      target: 0,
      measure: async () => [{ tandem: windows.reduce((sum, { failures }) => sum + failures, 0) }],
    },
    { ...shared, name: 'a day: reads', unit: 'microseconds', ratioTarget: 1.2, measure: async () => timeOf(0.5) },
    { ...shared, name: 'a day: reads, p95', unit: 'microseconds', ratioTarget: 1.2, measure: async () => timeOf(0.95) },
  ];
};
