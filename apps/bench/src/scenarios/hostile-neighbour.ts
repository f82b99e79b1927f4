import type { AttackScenario } from '../scenario.js';
import { openChannel } from '../channels.js';
import { runPaced, type LoadClient } from '../load.js';
import { writeNotifications } from '../notifications.js';
import { signUp } from '../people.js';
import { insert, record } from '../rows.js';
import type { Target } from '../attacker.js';

const PRODUCTS = 100_000;
/** Products with the same groups of attributes, and the size of a group. */
const WITH_ATTRIBUTES = 100;
const GROUPS = 50;
const GROUP_ITEMS = 100;
const ITEM_CHARACTERS = 500;
const READERS = 4;
const READS_PER_SECOND = 20;
const ATTACKERS = 5;
const CHANNELS = 50;
const NOTIFICATIONS = 200;
/** The engine runs eight commands concurrently. */
const POOL = '8';

/**
 * Reads of an uninvolved account, while an anonymous attacker, or one account, does the most expensive things that the
 * server allows. The server has production limits.
 */
export const hostileNeighbour: AttackScenario = async ({ tandem, db, start }) => {
  const products = Array.from({ length: PRODUCTS }, (_, at) =>
    record(at, { name: `Product ${at % 5000}`, description: `Number ${(at * 7919) % 100_003} of many` }),
  );
  const items = Array.from({ length: GROUP_ITEMS }, (_, at) => ({ key: `key ${at}`, value: 'x'.repeat(ITEM_CHARACTERS) }));
  const groups = Array.from({ length: GROUPS }, (_, at) => record(at, { name: `Group ${at}`, items }));
  const attributeIds = groups.map(({ _id }) => _id);
  const sharing = Array.from({ length: WITH_ATTRIBUTES }, (_, at) =>
    record(PRODUCTS + at, { name: 'With attributes', description: '', attributeIds }),
  );
  await insert(db, 'attributes', groups);
  await insert(db, 'products', [...products, ...sharing]);
  // the sessions from the beginning of all scenarios may have expired
  const readers = await signUp(tandem.url, READERS);
  for (const { id } of readers) await writeNotifications(db, id, NOTIFICATIONS);

  const server = await start('tandem-server', { RATE_LIMITS: 'on', MONGODB_POOL_SIZE: POOL });
  // the first password starts the threads for passwords, which every server that has been used has
  await signUp(server.url, 1);
  const attacker = await start('attacker');
  const clients = readers.map(({ id, accessToken }, at): LoadClient => {
    const paths = [`/notifications/identities/${id}`, '/products', `/products/${products[at]?._id}`, `/identities/${id}`];
    let turn = at;
    const headers = { authorization: `Bearer ${accessToken}` };
    return { expected: 200, next: () => ({ method: 'GET', path: paths[turn++ % paths.length] as string, headers }) };
  });

  async function measure(milliseconds: number) {
    let failures = 0;
    const latencies = await runPaced(server.url, clients, {
      perSecond: READS_PER_SECOND,
      milliseconds,
      failed: () => failures++,
    });
    return { latencies, failures };
  }
  return (await attacker.ask<string[]>('names')).map((name) => ({
    name,
    of: 'attack',
    target: 5,
    memoryTarget: 150 * 1024 ** 2,
    roundMsFactor: 4,
    process: server,
    measure,
    async attack() {
      // new accounts each time: an attack may have ended the sessions of the last ones
      const attackers = await signUp(tandem.url, ATTACKERS);
      const channelIds: string[] = [];
      for (let n = 0; n < CHANNELS; n++) channelIds.push(await openChannel(tandem.url, attackers.slice(0, 1)));
      const target: Target = { url: server.url, people: attackers, channelIds };
      await attacker.ask('begin', { name, target });
      return () => attacker.ask<Record<string, number>>('end');
    },
  }));
};
