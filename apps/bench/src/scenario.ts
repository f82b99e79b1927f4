import type { Db } from 'mongodb';
import type { AttackComparison } from './attack.js';
import type { LatencyComparison } from './latency.js';
import type { MeasuredProcess } from './measured-process.js';
import type { MemoryComparison } from './memory.js';
import type { Person } from './people.js';
import type { Comparison } from './rounds.js';
import type { TimeComparison } from './times.js';

/** What a scenario works with. */
export interface Stage {
  tandem: MeasuredProcess;
  bare: MeasuredProcess;
  /** Starts another process of a module of this folder, with more settings; it ends with the benchmark. */
  start(module: string, settings?: NodeJS.ProcessEnv): Promise<MeasuredProcess>;
  /** The database of both servers. */
  db: Db;
  /** Signed in at the server under test; each is one connection of a load. */
  people: readonly Person[];
}

export type AnyComparison = Comparison | LatencyComparison | TimeComparison | MemoryComparison | AttackComparison;
/** Makes one comparison, or several on the same data. */
export type Scenario<Made extends AnyComparison | AnyComparison[] = Comparison> = (stage: Stage) => Promise<Made>;
export type TimesScenario = Scenario<TimeComparison[]>;
export type MemoryScenario = Scenario<MemoryComparison>;
export type AttackScenario = Scenario<AttackComparison[]>;
export type LatencyScenario = Scenario<LatencyComparison>;

/** Connections of a load that wants many. */
export const MANY_CONNECTIONS = 32;

/** Warm-up requests where one takes microseconds. */
export const WARM_UP_REQUESTS = 6000;
