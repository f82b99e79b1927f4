/** Maximum number of mails that a process sends at once. */
const LANES = 4;
/** Poll interval for mails of other instances, crashes and failures, in milliseconds. */
const POLL_MS = 5000;

interface SendingOptions<Mail> {
  /** Queues mails that are stored elsewhere. */
  collect(): Promise<void>;
  /** Leases the next due mail, if any. Rejects when the queue cannot be reached. */
  claim(): Promise<Mail | undefined>;
  /** Sends a mail or puts it back. Rejects when the queue cannot be reached. */
  deliver(mail: Mail): Promise<void>;
  /** Receives errors of background work. */
  onFailure(error: unknown): void;
}

/** Works through the queue, a few mails at a time: when woken, by polling, or on demand. */
export function createSending<Mail>({ collect, claim, deliver, onFailure }: SendingOptions<Mail>) {
  const lanes = new Set<Promise<void>>();
  const passes = new Set<Promise<void>>();
  let calls = 0;
  let senders = 0;
  let isStopping = false;

  async function runLane(): Promise<void> {
    for (;;) {
      if (isStopping) return;
      const seen = calls;
      const mail = await claim();
      if (mail) {
        // more mails may be due, so start another lane
        startLane();
        await deliver(mail);
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

  async function send(): Promise<void> {
    calls += 1;
    startLane();
    while (lanes.size > 0) await Promise.all(lanes);
  }

  /** Sends everything due, and waits for mails in progress in this process. @throws when the queue cannot be reached */
  function work(): Promise<void> {
    const pass = collect()
      .then(send)
      .finally(() => passes.delete(pass));
    passes.add(pass);
    return pass;
  }

  function wake(): void {
    if (senders > 0) send().catch(onFailure);
  }

  /** Works now, when woken, and every `pollMs`, until the returned function is called, which waits for mails in progress. */
  function start(pollMs = POLL_MS): () => Promise<void> {
    senders += 1;
    const poll = () => void work().catch(onFailure);
    poll();
    const timer = setInterval(poll, pollMs).unref();
    let stopped: Promise<void> | undefined;
    async function stop(): Promise<void> {
      clearInterval(timer);
      senders -= 1;
      if (senders > 0) return;
      isStopping = true;
      // a pass that is still collecting would start lanes later
      while (lanes.size + passes.size > 0) await Promise.allSettled([...lanes, ...passes]);
      isStopping = false;
    }
    return () => (stopped ??= stop());
  }

  return { work, wake, start };
}
