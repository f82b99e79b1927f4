/** How many mails one process sends at once. */
const LANES = 4;
/** How often the queue is looked at for what other instances, crashes and failures have left, in milliseconds. */
const POLL_MS = 5000;

interface SendingOptions<Mail> {
  /** Puts into the queue what lies elsewhere. */
  collect(): Promise<void>;
  /** The next mail that is due, if any. Fails when the queue cannot be reached. */
  claim(): Promise<Mail | undefined>;
  /** Sends it, or puts it back. Fails when the queue cannot be reached. */
  deliver(mail: Mail): Promise<void>;
  /** Told what failed while nobody waited for it. */
  onFailure(error: unknown): void;
}

/** Runs through the queue: a few mails at a time; when woken, now and then, or once on demand. */
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
        // where one mail is due there may be more
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

  /** Sends what is due until nothing is, and waits for what is under way in this process. @throws when the queue cannot be reached */
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

  /** Works at once, when woken, and every `pollMs`, until the returned function is called; that waits for what is under way. */
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
      // a pass that still collects would start lanes afterwards
      while (lanes.size + passes.size > 0) await Promise.allSettled([...lanes, ...passes]);
      isStopping = false;
    }
    return () => (stopped ??= stop());
  }

  return { work, wake, start };
}
