/** Maximum number of rows that a process works on at once. */
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
}

/** Works through a queue, a few rows at a time: when woken, by polling, or on demand. */
export function createQueueWorker<Row>({ collect, claim, handle, onFailure }: WorkerOptions<Row>) {
  const lanes = new Set<Promise<void>>();
  const passes = new Set<Promise<void>>();
  let calls = 0;
  let users = 0;
  let isStopping = false;

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
    if (lanes.size >= LANES) return;
    const lane = runLane().finally(() => lanes.delete(lane));
    lane.catch(() => {});
    lanes.add(lane);
  }

  async function drain(): Promise<void> {
    calls += 1;
    startLane();
    while (lanes.size > 0) await Promise.all(lanes);
  }

  /** Works on everything due, and waits for rows in progress in this process. @throws when the queue cannot be reached */
  function work(): Promise<void> {
    const pass = Promise.resolve(collect?.())
      .then(drain)
      .finally(() => passes.delete(pass));
    passes.add(pass);
    return pass;
  }

  function wake(): void {
    if (users > 0) drain().catch(onFailure);
  }

  /** Works now, when woken, and every `pollMs`, until the returned function is called, which waits for rows in progress. */
  function start(pollMs = POLL_MS): () => Promise<void> {
    users += 1;
    const poll = () => void work().catch(onFailure);
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
