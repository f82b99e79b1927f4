import { readFileSync } from 'node:fs';
import type { Db } from 'mongodb';
import type { Asked } from './crowd.js';
import type { MeasuredProcess } from './measured-process.js';
import type { Somebody } from './people.js';
import { insert, record } from './rows.js';
import type { Stage } from './scenario.js';

/** Streams of one client process: its address has 28,000 ports to one server, and a process as many files as the system allows. */
const STREAMS_OF_ONE = 14_000;
/** Files that a server has open beside its streams. */
const OTHER_FILES = 1000;

/** Writes identities as a host application may, and lets a server begin a session for each. */
export async function enrol(server: MeasuredProcess, db: Db, count: number): Promise<Somebody[]> {
  const identities = Array.from({ length: count }, (_, at) =>
    record(at, { email: `crowd-${Math.random()}-${at}@example.org`, emailVerified: true, typeId: 'regular' }),
  );
  await insert(db, 'identities', identities);
  const ids = identities.map(({ _id }) => _id);
  const tokens = await server.ask<string[]>('signIn', ids);
  return ids.map((id, at) => ({ id, accessToken: tokens[at] as string }));
}

/** How many streams one server process may have: more need a higher limit of open files. */
export function streamsOfOneServer(): number {
  const limit = /Max open files\s+\d+\s+(\d+|unlimited)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === 'unlimited' ? Infinity : Number(limit) - OTHER_FILES;
}

interface Client {
  process: MeasuredProcess;
  address: string;
  open: number;
  readers: number;
  received: number;
}

/** Starts clients for so many streams; those of one client come from one address of the loopback network. */
export async function createCrowd({ start }: Pick<Stage, 'start'>, most: number) {
  const clients = await Promise.all(
    Array.from({ length: Math.ceil(most / STREAMS_OF_ONE) }, async (_, at): Promise<Client> => {
      return { process: await start('crowd'), address: `127.0.0.${at + 2}`, open: 0, readers: 0, received: 0 };
    }),
  );

  /** Gives streams to the clients with room, the first ones first. */
  function shares(asked: readonly Asked[]): [Client, Asked[]][] {
    let from = 0;
    return clients.map((client) => {
      const some = asked.slice(from, from + STREAMS_OF_ONE - client.open);
      from += some.length;
      client.open += some.length;
      client.readers += some.filter(({ channelId }) => channelId !== undefined).length;
      return [client, some];
    });
  }

  return {
    async open(url: string, asked: readonly Asked[]): Promise<void> {
      await Promise.all(shares(asked).map(([{ process, address }, some]) => process.ask('open', { url, address, asked: some })));
    },

    /** Starts to wait until all readers have so many messages more. */
    async told(messages = 1): Promise<void> {
      await Promise.all(
        clients.map(async (client) => {
          client.received += client.readers * messages;
          if (client.readers > 0) await client.process.ask('received', client.received);
        }),
      );
    },

    /** Closes the last so many. */
    async shut(count: number): Promise<void> {
      for (let left = count; left > 0;) {
        const client = clients.findLast(({ open }) => open > 0);
        if (!client) return;
        const some = Math.min(left, client.open);
        await client.process.ask('shut', some);
        client.open -= some;
        left -= some;
      }
    },

    /** How many streams were cut off. */
    async lost(): Promise<number> {
      const counts = await Promise.all(clients.map(({ process }) => process.ask<number>('count')));
      return clients.reduce((sum, { open }, at) => sum + open - (counts[at] as number), 0);
    },
  };
}
