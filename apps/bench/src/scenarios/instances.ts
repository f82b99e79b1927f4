import { connect, type Connection } from '../connection.js';
import { openChannel } from '../channels.js';
import { createCrowd, enrol } from '../crowds.js';
import type { LoadResult } from '../load.js';
import { cpuTimeOf, type MeasuredProcess } from '../measured-process.js';
import type { Somebody } from '../people.js';
import type { Comparison, Side } from '../rounds.js';
import type { Scenario } from '../scenario.js';

const INSTANCES = 3;
const READERS = 3000;
const STREAMS_OF_PERSON = 10;
/** Messages on their way at once, shared by the instances. */
const AT_ONCE = 6;
const CONTENT = 'x'.repeat(200);

/** Processes that count as one. */
const together = (processes: readonly Pick<MeasuredProcess, 'cpu'>[]): Pick<MeasuredProcess, 'cpu'> => ({
  async cpu() {
    const all = await Promise.all(processes.map((one) => one.cpu()));
    return all.reduce((sum, one) => sum + one, 0);
  },
});

/**
 * Messages to three thousand readers at three instances with a Redis between them, against one instance alone: how many reach
 * readers in a second, and the CPU that each takes of the servers, without and with that of Redis.
 */
export const instances: Scenario<Comparison[]> = async (stage) => {
  const { start, db, isQuick } = stage;
  const readers = isQuick ? READERS / 10 : READERS;
  const redis = await stage.startRedis();
  const settings = { REDIS_URL: redis.url };
  const one = await start('tandem-server');
  const several = await Promise.all(Array.from({ length: INSTANCES }, () => start('tandem-server', settings)));
  const people = await enrol(one, db, readers / STREAMS_OF_PERSON);
  const personOf = (turn: number) => people[turn % people.length] as Somebody;

  async function sideOf(servers: readonly MeasuredProcess[], process: Side['process']): Promise<Side> {
    const urls = servers.map(({ url }) => url);
    const channelId = await openChannel(urls[0] as string, people);
    const crowd = await createCrowd(stage, readers);
    for (const [at, url] of urls.entries()) {
      const turns = Array.from({ length: readers }, (_, turn) => turn).filter((turn) => turn % urls.length === at);
      const asked = turns.map((turn) => ({ accessToken: personOf(turn).accessToken, channelId }));
      await crowd.open(url, asked);
    }
    let connections: Connection[] = [];

    /** Each time so many at once, until all readers have them. */
    async function run(milliseconds: number): Promise<LoadResult> {
      const begun = performance.now();
      let requests = 0;
      for (const end = begun + milliseconds; performance.now() < end; requests += AT_ONCE * readers) {
        const told = crowd.told(AT_ONCE);
        await Promise.all(connections.map((connection, turn) => post(connection, turn)));
        await told;
      }
      return { requests, rate: (requests * 1000) / (performance.now() - begun) };
    }
    function post(connection: Connection, turn: number): Promise<string> {
      const { id: senderId, accessToken } = personOf(turn);
      const headers = { authorization: `Bearer ${accessToken}` };
      return connection.send(
        { method: 'POST', path: '/messages', headers, body: { channelId, senderId, content: CONTENT } },
        201,
      );
    }
    return {
      process,
      // idle connections are closed
      async prepare() {
        for (const connection of connections) connection.close();
        connections = await Promise.all(
          Array.from({ length: AT_ONCE }, (_, turn) => connect(urls[turn % urls.length] as string)),
        );
      },
      run,
    };
  }
  const alone = await sideOf([one], one);
  const spread = await sideOf(several, together(several));
  const shared = { of: 'cpu', warmUpRequests: readers * 500, bare: alone } as const;
  return [
    { ...shared, name: `a message at ${INSTANCES} instances`, tandem: spread },
    {
      ...shared,
      name: 'the same, with the CPU of Redis',
      tandem: { ...spread, process: together([...several, { cpu: async () => cpuTimeOf(redis.pid) }]) },
    },
  ];
};
