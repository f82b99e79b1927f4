import type { WebSocket } from 'ws';
import { openChannel } from '../channels.js';
import { createCrowd, enrol, streamsOfOneServer } from '../crowds.js';
import { percentile } from '../load.js';
import type { Memory } from '../measured-child.js';
import type { NeedComparison } from '../needs.js';
import type { Somebody } from '../people.js';
import type { Scenario } from '../scenario.js';
import { openSocket, openSockets } from '../sockets.js';

/** Long enough for two heartbeats, of which each pings every stream. */
const LISTEN_MS = 65_000;
const WARM_UP_MS = 5000;
const CONTENT = 'x'.repeat(200);
/** A stream accepts fifty frames a second. */
const SENDERS = 40;
/** An identity may have a hundred streams at a server, of which one is a reader's or a sender's. */
const STREAMS_OF_PERSON = 90;

/**
 * A hundred thousand idle streams, over as many servers as the limit of open files asks for: what each needs, and how long a
 * message to a thousand readers among them takes until the last has it, against five thousand.
 */
export const manyStreams: Scenario<NeedComparison[]> = async (stage) => {
  const { start, db, isQuick } = stage;
  const [many, few, readers] = isQuick ? [10_000, 1000, 200] : [100_000, 5000, 1000];
  const count = Math.ceil(many / streamsOfOneServer());
  const settings = { ...(count > 1 && { REDIS_URL: (await stage.startRedis()).url }) };
  const servers = await Promise.all(Array.from({ length: count }, () => start('tandem-server', settings)));
  const serverOf = (turn: number) => servers[turn % count] as (typeof servers)[number];

  const people = await enrol(serverOf(0), db, Math.max(readers, Math.ceil(many / STREAMS_OF_PERSON)));
  const personOf = (turn: number) => people[turn % people.length] as Somebody;
  /** Who has an idle stream: all those of a person are at one server, and are opened one after the other. */
  const idlerOf = (turn: number, at: number) => personOf(at + count * Math.floor(turn / count / STREAMS_OF_PERSON));
  const channelId = await openChannel(serverOf(0).url, people.slice(0, readers));
  const crowd = await createCrowd(stage, many);
  /** Opens streams up to a number, of which the first are readers; a server has some of each. */
  async function openUpTo(from: number, to: number): Promise<void> {
    const all = Array.from({ length: to - from }, (_, turn) => from + turn);
    await Promise.all(
      servers.map(({ url }, at) => {
        const turns = all.filter((turn) => turn % count === at);
        return crowd.open(
          url,
          turns.map((turn) =>
            turn < readers
              ? { accessToken: personOf(turn).accessToken, channelId }
              : { accessToken: idlerOf(turn, at).accessToken },
          ),
        );
      }),
    );
  }
  const memory = () => Promise.all(servers.map((server) => server.ask<Memory>('memory')));

  await openUpTo(0, few);
  const senders = await openSockets(SENDERS, (turn) =>
    openSocket(serverOf(turn).url, '/messages/listen', personOf(turn).accessToken),
  );
  let turn = 0;
  /** Microseconds of each message until the last has it. */
  async function times(milliseconds: number): Promise<number[]> {
    const taken: number[] = [];
    for (const end = performance.now() + milliseconds; performance.now() < end;) {
      const begun = performance.now();
      const told = crowd.told();
      const clientId = `message-${++turn}`;
      (senders[turn % senders.length] as WebSocket).send(JSON.stringify({ type: 'message.create', channelId, content: CONTENT, clientId })); // prettier-ignore
      await told;
      taken.push((performance.now() - begun) * 1000);
    }
    return taken;
  }
  const listenMs = isQuick ? WARM_UP_MS : LISTEN_MS;
  await times(WARM_UP_MS);
  const before = await times(listenMs);
  const empty = await memory();
  await openUpTo(few, many);
  const full = await memory();
  await times(WARM_UP_MS);
  const among = await times(listenMs);
  const lost = await crowd.lost();
  await crowd.shut(many - few);
  await times(WARM_UP_MS);
  const after = await times(listenMs);
  for (const sender of senders) sender.terminate();

  // some memory may come from what a process already had, and some is outside its heap
  const growth = full.map((now, at) => {
    const { resident, used } = empty[at] as Memory;
    return Math.max(now.resident - resident, now.used - used);
  });
  const bytes = growth.reduce((sum, one) => sum + one, 0) / (many - few);
  const pairs = (share: number) =>
    [before, after].map((less) => ({ tandem: percentile(among, share), bare: percentile(less, share) }));
  const shared = { of: 'need', unit: 'microseconds', against: `among ${few.toLocaleString('en')}`, ratioTarget: 1.2 } as const;
  const where = `${many.toLocaleString('en')} streams of ${count === 1 ? 'a server' : `${count} servers`}`;
  const name = `message to ${readers.toLocaleString('en')} readers among ${where}`;
  return [
    { name: `idle stream, of ${where}`, of: 'need', unit: 'bytes', target: 4 * 1024, measure: async () => [{ tandem: bytes }] },
    { name: `${where}: cut off`, of: 'need', unit: 'streams', target: 0, measure: async () => [{ tandem: lost }] },
    { ...shared, name, measure: async () => pairs(0.5) },
    { ...shared, name: `${name}, p99`, measure: async () => pairs(0.99) },
  ];
};
