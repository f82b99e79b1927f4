import type { RedisServer } from '@tandem/testing/redis-server';
import type { Db } from 'mongodb';
import type { AttackComparison } from './attack.js';
import type { LatencyComparison } from './latency.js';
import type { MeasuredProcess } from './measured-process.js';
import type { NeedComparison } from './needs.js';
import type { Person } from './people.js';
import type { Comparison } from './rounds.js';
import type { StartedServer } from './started-server.js';
import type { TimeComparison } from './times.js';

/** What a scenario works with. */
export interface Stage {
  tandem: MeasuredProcess;
  bare: MeasuredProcess;
  /** The database engine of both. */
  engine: Pick<MeasuredProcess, 'cpu'>;
  /** Starts another process of a module of this folder, with more settings; it ends with the benchmark. */
  start(module: string, settings?: NodeJS.ProcessEnv): Promise<MeasuredProcess>;
  /** Starts the server under test as `npm start` runs it, or the bare one, with more settings; it ends with the benchmark. */
  startServer(which: 'tandem' | 'bare', settings?: NodeJS.ProcessEnv): Promise<StartedServer>;
  /** Starts a Redis for several servers; it ends with the benchmark. */
  startRedis(): Promise<RedisServer>;
  /** The database of both servers. */
  db: Db;
  /** Another database of the same engine, and the settings of a server that uses it. */
  database(name: string): { db: Db; settings: NodeJS.ProcessEnv };
  /** Signed in at the server under test; each is one connection of a load. None where only long scenarios run. */
  people: readonly Person[];
  /** Whether little is to be measured, to see that all works. */
  isQuick: boolean;
}

export type AnyComparison = Comparison | LatencyComparison | TimeComparison | NeedComparison | AttackComparison;
/** Makes one comparison, or several on the same data. */
export type Scenario<Made extends AnyComparison | AnyComparison[] = Comparison> = (stage: Stage) => Promise<Made>;
export type TimesScenario = Scenario<TimeComparison[]>;
export type NeedScenario = Scenario<NeedComparison>;
export type AttackScenario = Scenario<AttackComparison[]>;
export type LatencyScenario = Scenario<LatencyComparison>;

/** Connections of a load that wants many. */
export const MANY_CONNECTIONS = 32;

/** Warm-up requests where one takes microseconds. */
export const WARM_UP_REQUESTS = 6000;
