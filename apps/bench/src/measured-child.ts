import { readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A question of the parent, and its answer; the child's first message is its URL, with id 0. */
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

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Memory of a process, in bytes: resident, and of its objects and buffers. */
export interface Memory {
  resident: number;
  used: number;
}

/** Memory of this process after garbage collection. */
async function memory(): Promise<Memory> {
  for (let times = 0; times < 3; times++) {
    collectGarbage();
    await setImmediate();
  }
  const { rss: resident, heapUsed, external } = process.memoryUsage();
  return { resident, used: heapUsed + external };
}

type Handler = (facts: never) => unknown;

/** CPU time of this process so far, over all threads, user and system, in microseconds. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Open files and sockets of this process. */
const files = () => readdirSync('/proc/self/fd').length;

/**
 * The child's side of a measured process: reports its URL, answers questions, and ends with its parent.
 * @param start returns the URL, a close function, and questions besides `cpu`, `memory`, `files` and `stop`
 */
export async function runMeasured(
  start: () => Promise<{ url: string; close(): Promise<void>; handlers?: Record<string, Handler> }>,
): Promise<void> {
  process.once('disconnect', () => process.exit());
  const { url, close, handlers } = await start();
  const known: Record<string, Handler> = { cpu: cpuTime, memory, files, stop: close, ...handlers };

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
