import { asSystem } from './traces.js';

/** Maximum number of rows that a process works on at once, by default. */
const LANES = 4;
/** Poll interval for rows of other instances, crashes and failures, in milliseconds. */
const POLL_MS = 5000;

interface WorkerOptions<Row> {
  /** Queues rows that are stored elsewhere. */
  collect?(): Promise<void>;
  /** Leases the next due row, if any. Rejects when the queue cannot be reached. */
  claim(): Promise<Row | undefined>;
  /** Does the work on a row, or puts it back. Rejects when the queue cannot be reached. */
  handle(row: Row): Promise<void>;
  /** Receives errors of background work. */
  onFailure(error: unknown): void;
  /** Maximum number of rows in progress. Default 4. */
  lanes?: number;
}

/** Works through a queue, a few rows at a time: when woken, by polling, or on demand. Its writes are the system's, whoever wakes it. */
export function createQueueWorker<Row>({ collect, claim, handle, onFailure, lanes: most = LANES }: WorkerOptions<Row>) {
  const lanes = new Set<Promise<void>>();
  const passes = new Set<Promise<void>>();
  let calls = 0;
  let users = 0;
  let isStopping = false;
  /** Passes that wait for the lanes, and are told what fails there. */
  let waiting = 0;

  async function runLane(): Promise<void> {
    for (;;) {
      if (isStopping) return;
      const seen = calls;
      const row = await claim();
      if (row) {
        // more rows may be due, so start another lane
        startLane();
        await handle(row);
      } else if (seen === calls) {
        return;
      }
    }
  }

  function startLane(): void {
    if (lanes.size >= most) return;
    const lane = asSystem(runLane).finally(() => lanes.delete(lane));
    lane.catch((error: unknown) => {
      if (waiting === 0) onFailure(error);
    });
    lanes.add(lane);
  }

  /** Looks for rows, and waits for none: under constant load those in progress never end. */
  function look(): void {
    calls += 1;
    startLane();
  }

  async function drain(): Promise<void> {
    look();
    waiting += 1;
    try {
      while (lanes.size > 0) await Promise.all(lanes);
    } finally {
      waiting -= 1;
    }
  }

  /** Works on everything due, and waits for rows in progress in this process. @throws when the queue cannot be reached */
  const work = (): Promise<void> => pass(drain);

  function pass(next: () => Promise<void> | void): Promise<void> {
    const run = async () => {
      await collect?.();
      await next();
    };
    const one = asSystem(run).finally(() => passes.delete(one));
    passes.add(one);
    return one;
  }

  function wake(): void {
    if (users > 0) look();
  }

  /** Works now, when woken, and every `pollMs`, until the returned function is called, which waits for rows in progress. */
  function start(pollMs = POLL_MS): () => Promise<void> {
    users += 1;
    const poll = () => void pass(look).catch(onFailure);
    poll();
    const timer = setInterval(poll, pollMs).unref();
    let stopped: Promise<void> | undefined;
    async function stop(): Promise<void> {
      clearInterval(timer);
      users -= 1;
      if (users > 0) return;
      isStopping = true;
      // a pass that is still collecting would start lanes later
      while (lanes.size + passes.size > 0) await Promise.allSettled([...lanes, ...passes]);
      isStopping = false;
    }
    return () => (stopped ??= stop());
  }

  return { work, wake, start };
}
