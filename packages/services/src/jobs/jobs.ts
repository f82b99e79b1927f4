import { describeError, withDeadline, type Log } from '@tandem/core';
import { asSystem, type Storage } from '@tandem/storage';
import { parseLifetime } from '../configuration.js';
import { TURN_MS, createJobTurns } from './job-turns.js';

/** How often turns are renewed, and looked for those of dead instances, in milliseconds. */
const LOOK_MS = TURN_MS / 3;
/** Shortest time between two looks, in milliseconds. */
const PAUSE_MS = 100;
/** How long a close waits for runs, in milliseconds. */
const STOP_MS = 10_000;
const NAME_MAX = 200;

/** What a job does. @param given.signal aborted when the run must end: at close, or when another instance may run the job */
export type JobRun = (given: { signal: AbortSignal }) => Promise<unknown> | void;

interface Run {
  controller: AbortController;
  /** By the store's time. */
  startedAt: Date;
  isLate: boolean;
  /** Aborts the run when its turn could not be renewed in time. */
  expiry: NodeJS.Timeout;
}
interface Turn {
  name: string;
  interval: number;
  /** When it was started last, by anybody. */
  startedAt: Date;
  /** The store's time, and the same moment, or an earlier one, by `performance.now()`. */
  now: Date;
  since: number;
}

/** Jobs that run from time to time, each on one instance at a time (docs/embedding.md). */
export function createJobs({ storage, log }: { storage: Storage; log: Log }) {
  const turns = createJobTurns(storage);
  const runs = new Map<string, JobRun>();
  const intervals = new Map<string, number>();
  const running = new Map<string, Run>();
  /** Ends of runs: when their turns are free, too. */
  const ends = new Set<Promise<void>>();
  let passing = Promise.resolve(LOOK_MS);
  let timer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let isStopped = false;

  function lose(name: string, { controller }: Run): void {
    if (controller.signal.aborted) return;
    log.warn({ job: name }, 'a job lost its turn, which another instance may have taken');
    controller.abort(new Error('the turn of this job is over'));
  }

  function expire(name: string, since: number): NodeJS.Timeout {
    const left = since + TURN_MS - performance.now();
    return setTimeout(() => lose(name, running.get(name) as Run), left).unref();
  }

  async function go(name: string, { signal }: AbortController): Promise<void> {
    try {
      await (runs.get(name) as JobRun)({ signal });
    } catch (error) {
      const isEnd = signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));
      if (!isEnd) log.error({ err: describeError(error), job: name }, 'a job failed; it runs again at its next interval');
    }
    clearTimeout(running.get(name)?.expiry);
    running.delete(name);
    // without this the turn ends by itself
    await turns.release(name).catch(() => {});
  }

  async function renew(run: Run, { name, interval, now, since }: Turn): Promise<void> {
    const isHeld = await turns.renew(name, now);
    // it has ended meanwhile, and may have released the turn before this kept it
    if (running.get(name) !== run) return turns.release(name);
    if (!isHeld) return lose(name, run);
    clearTimeout(run.expiry);
    run.expiry = expire(name, since);
    if (run.isLate || now.getTime() - run.startedAt.getTime() < interval) return;
    run.isLate = true;
    log.warn({ job: name }, 'a job takes longer than its interval');
  }

  async function begin({ name, interval, startedAt, now, since }: Turn): Promise<void> {
    const before = await turns.take(name, { interval, startedAt, now });
    if (!before) return;
    if (isStopped) return turns.release(name, before);
    const controller = new AbortController();
    const run: Run = { controller, startedAt: now, isLate: false, expiry: expire(name, since) };
    running.set(name, run);
    const end = go(name, controller).finally(() => ends.delete(end));
    ends.add(end);
  }

  /** Renews the turns of what runs here, and begins what is due. @returns milliseconds until there is something to do */
  async function pass(): Promise<number> {
    if (isStopped || intervals.size === 0) return LOOK_MS;
    const since = performance.now();
    try {
      const { now, states } = await turns.look(intervals);
      const work = [...states].map(async ([name, { startedAt, wait }]) => {
        const run = running.get(name);
        const turn = { name, interval: intervals.get(name) ?? 0, startedAt, now, since };
        if (run) await renew(run, turn);
        else if (wait <= 0) await begin(turn);
      });
      const failed = (await Promise.allSettled(work)).find((one) => one.status === 'rejected');
      if (failed) throw failed.reason;
      const next = [...intervals].map(([name, interval]) => (running.has(name) ? interval : (states.get(name)?.wait ?? 0)));
      return Math.max(PAUSE_MS, Math.min(LOOK_MS, ...next));
    } catch (error) {
      log.warn({ err: describeError(error) }, 'jobs could not be looked at; they are looked at again');
      return LOOK_MS;
    }
  }

  /**
   * One pass after another: two at once would see each other's turns as those of other instances. What jobs write is the system's,
   * also where a request has added them.
   */
  function look(): Promise<number> {
    passing = passing.then(() => asSystem(pass));
    return passing;
  }

  async function goOn(): Promise<void> {
    clearTimeout(timer);
    const next = await look();
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(() => void goOn(), next).unref();
  }

  return {
    /** @throws Error for an interval or name that is wrong, or a name that is taken */
    every(interval: string, name: string, run: JobRun): void {
      if (name.length === 0 || name.length > NAME_MAX) throw new Error(`every: a name has 1 to ${NAME_MAX} characters`);
      if (runs.has(name)) throw new Error(`every: there already is a job "${name}"`);
      intervals.set(name, parseLifetime(`every: the interval of "${name}"`, interval));
      runs.set(name, run);
      if (isStarted) void goOn();
    },

    /** Runs what is due by now, and waits for all that runs here. */
    async work(): Promise<void> {
      await look();
      await Promise.all(ends);
    },

    start(): void {
      isStarted = true;
      void goOn();
    },

    /** Aborts what runs here, and waits until it has ended and its turns are free, ten seconds at most. Nothing begins after it. */
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      for (const { controller } of running.values()) controller.abort(new Error('the process closes'));
      // if this fails, the turns expire by themselves
      const released = () => turns.releaseUnheard().catch(() => {});
      const ended = passing.then(() => Promise.all([...ends, released()]));
      await withDeadline(STOP_MS, ended).catch(() => log.warn({ jobs: [...running.keys()] }, 'jobs did not end at close'));
    },
  };
}
export type Jobs = ReturnType<typeof createJobs>;
