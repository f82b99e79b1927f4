import { parseArgs } from 'node:util';
import { compareAttack, type AttackResult } from './attack.js';
import { compareLatency, type LatencyResult } from './latency.js';
import { measureNeed, type NeedResult } from './needs.js';
import { compare, type ComparisonResult, type RoundPlan } from './rounds.js';
import type { AnyComparison, Scenario } from './scenario.js';
import { bigLists } from './scenarios/big-lists.js';
import { broadcast } from './scenarios/broadcast.js';
import { day } from './scenarios/day.js';
import { erasure } from './scenarios/erasure.js';
import { eventCost } from './scenarios/event-cost.js';
import { hostileNeighbour } from './scenarios/hostile-neighbour.js';
import { idleStreams } from './scenarios/idle-streams.js';
import { instances } from './scenarios/instances.js';
import { keyedRequest } from './scenarios/keyed-request.js';
import { listQueries } from './scenarios/list-queries.js';
import { login } from './scenarios/login.js';
import { loginStorm } from './scenarios/login-storm.js';
import { manyStreams } from './scenarios/many-streams.js';
import { markRead } from './scenarios/mark-read.js';
import { memoryLoad } from './scenarios/memory-load.js';
import { messagePost } from './scenarios/message-post.js';
import { notificationList } from './scenarios/notification-list.js';
import { ownChannels } from './scenarios/own-channels.js';
import { products } from './scenarios/products.js';
import { relationLists } from './scenarios/relation-lists.js';
import { search } from './scenarios/search.js';
import { start } from './scenarios/start.js';
import { tokenRefresh } from './scenarios/token-refresh.js';
import { withStage } from './stage.js';
import { formatAttacks, formatLatencies, formatNeeds, formatTable, formatTarget, formatTimes, type Result } from './table.js';
import { compareTimes, type TimeResult } from './times.js';

type Scenarios = Record<string, Scenario<AnyComparison | AnyComparison[]>>;

const SCENARIOS: Scenarios = {
  'notification-list': notificationList,
  'mark-read': markRead,
  products,
  'token-refresh': tokenRefresh,
  login,
  'login-storm': loginStorm,
  'list-queries': listQueries,
  search,
  'relation-lists': relationLists,
  'message-post': messagePost,
  'event-cost': eventCost,
  'keyed-request': keyedRequest,
  broadcast,
  'own-channels': ownChannels,
  'idle-streams': idleStreams,
  'memory-load': memoryLoad,
  start,
  'hostile-neighbour': hostileNeighbour,
  erasure,
};
/** Those that take many minutes and the whole machine: only by their names. */
const LONG: Scenarios = { 'many-streams': manyStreams, instances, 'big-lists': bigLists, day };

/**
 * Many short rounds instead of few long ones: a temporary disturbance of the machine then spoils single pairs, not the
 * median.
 */
const FULL: RoundPlan = { rounds: 8, roundMs: 1200, warmUpMs: 7000 };
const QUICK: RoundPlan = { rounds: 3, roundMs: 600, warmUpMs: 1500 };

const ABOUT = `The server under test and a bare Express route over the MongoDB driver take turns; ratios are of the first to the second,
median and range of the pairs. CPU is that of each server's own process, all threads; the database engine, one process for both, is
not in it. In a storm the server under test takes turns with itself: it answers a steady few while nothing else happens, and while many
sign in. Pages of followers are the server's on both sides, of many against few. List queries are timed in one process, against other rows
or the bare driver; a message to many readers is timed until the last of them has it. The memory of streams is what the server's process
has more of when they are open; a start and the memory under a load are those of new processes,
as npm start runs them. Of attacks it is others' reads that are timed: before, while a stranger does the dearest that the server allows,
and two seconds after it. A write with an event and a request with a key are compared with those without, at the same server. Compare ratios, not figures of different runs.`;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: Object.keys(SCENARIOS) },
  },
});
const plan = values.quick ? QUICK : FULL;
const comparisons: ComparisonResult[] = [];
const latencies: LatencyResult[] = [];
const times: TimeResult[] = [];
const needs: NeedResult[] = [];
const attacks: AttackResult[] = [];

/** Says a result as soon as it is known: a whole run takes half an hour, and may be stopped before its end. */
async function reported<T extends Result>(measuring: Promise<T>): Promise<T> {
  const result = await measuring;
  console.error(formatTarget(result));
  return result;
}

const hasPeople = values.only.some((name) => Object.hasOwn(SCENARIOS, name));
await withStage({ isQuick: values.quick, hasPeople }, async (stage) => {
  for (const name of values.only) {
    const scenario = SCENARIOS[name] ?? LONG[name];
    if (!scenario) throw new Error(`no scenario ${name}; there are ${Object.keys({ ...SCENARIOS, ...LONG }).join(', ')}`);
    for (const comparison of [await scenario(stage)].flat()) {
      if (comparison.of === 'time') times.push(await reported(compareTimes(comparison, plan)));
      else if (comparison.of === 'attack') attacks.push(await reported(compareAttack(comparison, plan)));
      else if (comparison.of === 'need') needs.push(await reported(measureNeed(comparison)));
      else if (comparison.of === 'p99') latencies.push(await reported(compareLatency(comparison, plan)));
      else comparisons.push(await reported(compare(comparison, plan)));
    }
  }
});

const results = [...comparisons, ...latencies, ...times, ...needs, ...attacks];
if (values.json) console.log(JSON.stringify({ plan, results }, undefined, 2));
else {
  const tables = [
    formatTable(comparisons),
    formatLatencies(latencies),
    formatTimes(times),
    formatNeeds(needs),
    formatAttacks(attacks),
  ];
  console.log([ABOUT, ...tables.filter((table) => table !== ''), results.map(formatTarget).join('\n')].join('\n\n'));
}
