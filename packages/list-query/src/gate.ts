import { ListTimeLimitError } from './errors.js';

/** Who asks, as far as it decides whose turn it is. */
export interface Caller {
  /** The same for all that one caller asks. */
  key: string;
  /** One of those who have a part of the places together. */
  isAnonymous: boolean;
}

export interface GateSettings {
  /** Commands of the store that may be under way together. */
  atOnce: number;
  /** Of these, those of anonymous callers together. Default all. */
  anonymousAtOnce?: number;
  /** The longest wait, after which a command is given up with ListTimeLimitError. Default 5,000 ms. */
  waitMs?: number;
  /** Commands of one caller that may wait; what comes beyond them is given up at once. Default 100. */
  waitingMax?: number;
}

/**
 * Runs a command of the store when it is its caller's turn.
 * @throws ListTimeLimitError after waiting too long; the signal's reason when it is aborted meanwhile
 */
export type Gate = <T>(caller: Caller, command: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface Line extends Caller {
  waiting: Set<() => void>;
  isUnderWay: boolean;
  /** When it came to wait for its next turn, in the order of all. */
  turn: number;
}

/**
 * A gate, so that costly commands leave room for cheap ones, and who asks much does not keep others from it: a caller has one command under way,
 * and callers take turns, however much each of them asks (decisions H1).
 */
export function createGate({ atOnce, anonymousAtOnce = atOnce, waitMs = 5000, waitingMax = 100 }: GateSettings): Gate {
  const lines = new Map<string, Line>();
  /** Those who wait and have nothing under way, next first: the anonymous callers, and the others. */
  const ready = { anonymous: new Set<Line>(), known: new Set<Line>() };
  let underWay = 0;
  let anonymousUnderWay = 0;
  let turns = 0;

  const readyOf = ({ isAnonymous }: Line) => (isAnonymous ? ready.anonymous : ready.known);

  function waitForTurn(line: Line): void {
    if (line.isUnderWay || line.waiting.size === 0 || readyOf(line).has(line)) return;
    turns += 1;
    line.turn = turns;
    readyOf(line).add(line);
  }

  function nextLine(): Line | undefined {
    if (underWay >= atOnce) return undefined;
    const [known] = ready.known;
    const [anonymous] = anonymousUnderWay < anonymousAtOnce ? ready.anonymous : [];
    return known && (!anonymous || known.turn < anonymous.turn) ? known : anonymous;
  }

  function admit(): void {
    for (let line = nextLine(); line; line = nextLine()) {
      const [begin] = line.waiting;
      readyOf(line).delete(line);
      if (!begin) continue;
      line.waiting.delete(begin);
      count(line, 1);
      begin();
    }
  }

  function count(line: Line, change: 1 | -1): void {
    line.isUnderWay = change === 1;
    underWay += change;
    if (line.isAnonymous) anonymousUnderWay += change;
  }

  function leave(line: Line): void {
    count(line, -1);
    waitForTurn(line);
    forgetIdle(line);
    admit();
  }

  function forgetIdle(line: Line): void {
    if (line.waiting.size > 0) return;
    readyOf(line).delete(line);
    if (!line.isUnderWay) lines.delete(line.key);
  }

  function lineOf(caller: Caller): Line {
    const known = lines.get(caller.key);
    if (known) return known;
    const line = { ...caller, waiting: new Set<() => void>(), isUnderWay: false, turn: 0 };
    lines.set(caller.key, line);
    return line;
  }

  function enter(line: Line, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (reason: Error) => {
        stopWaiting();
        line.waiting.delete(begin);
        forgetIdle(line);
        reject(reason);
      };
      const aborted = () => giveUp(signal?.reason as Error);
      const timer = setTimeout(() => giveUp(new ListTimeLimitError(waitMs)), waitMs);
      const stopWaiting = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
      };
      const begin = () => {
        stopWaiting();
        resolve();
      };
      signal?.addEventListener('abort', aborted);
      line.waiting.add(begin);
      waitForTurn(line);
      admit();
    });
  }

  return async (caller, command, signal) => {
    signal?.throwIfAborted();
    const line = lineOf(caller);
    if (line.waiting.size >= waitingMax) throw new ListTimeLimitError(waitMs);
    await enter(line, signal);
    try {
      return await command();
    } finally {
      leave(line);
    }
  };
}
