/** A question of the parent's, and its answer; the child's first message is its address, under the id 0. */
export interface Question {
  id: number;
  name: string;
  facts?: unknown;
}
export interface Answer {
  id: number;
  value?: unknown;
  error?: string;
}

type Handler = (facts: never) => unknown;

/** CPU time of this process so far, of all its threads, user and system, in microseconds. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/**
 * The child's side of a measured process: says where it listens, answers questions, and ends with its parent.
 * @param start gives the address, how to close, and what can be asked besides `cpu` and `stop`
 */
export async function runMeasured(
  start: () => Promise<{ url: string; close(): Promise<void>; handlers?: Record<string, Handler> }>,
): Promise<void> {
  process.once('disconnect', () => process.exit());
  const { url, close, handlers } = await start();
  const known: Record<string, Handler> = { cpu: cpuTime, stop: close, ...handlers };

  async function answer({ id, name, facts }: Question): Promise<Answer> {
    try {
      return { id, value: await known[name]?.(facts as never) };
    } catch (error) {
      return { id, error: String(error) };
    }
  }
  process.on('message', (question: Question) => {
    void answer(question).then((given) =>
      process.send?.(given, () => {
        if (question.name === 'stop') process.disconnect();
      }),
    );
  });
  process.send?.({ id: 0, value: url } satisfies Answer);
}
