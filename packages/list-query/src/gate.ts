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
  /** For how long a caller rests after a turn, in times of the turn's own length, up to half a second. Default 0. */
  rest?: number;
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
  /** Nothing more of it begins: it has one under way, or rests. */
  isBusy: boolean;
  /** When it came to wait for its next turn, in the order of all. */
  turn: number;
}

const REST_MAX_MS = 500;

/**
 * A gate, so that costly commands leave room for cheap ones, and who asks much does not keep others from it: a caller has one command under way,
 * and callers take turns, however much each of them asks (decisions H1).
 */
export function createGate({ atOnce, anonymousAtOnce = atOnce, waitMs = 5000, waitingMax = 100, rest = 0 }: GateSettings): Gate {
  const lines = new Map<string, Line>();
  /** Those who wait and have nothing under way, next first: the anonymous callers, and the others. */
  const ready = { anonymous: new Set<Line>(), known: new Set<Line>() };
  let underWay = 0;
  let anonymousUnderWay = 0;
  let turns = 0;

  const readyOf = ({ isAnonymous }: Line) => (isAnonymous ? ready.anonymous : ready.known);

  function waitForTurn(line: Line): void {
    if (line.isBusy || line.waiting.size === 0 || readyOf(line).has(line)) return;
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
      line.isBusy = true;
      count(line, 1);
      begin();
    }
  }

  function count(line: Line, change: 1 | -1): void {
    underWay += change;
    if (line.isAnonymous) anonymousUnderWay += change;
  }

  function leave(line: Line, turnMs: number): void {
    count(line, -1);
    const restMs = Math.min(turnMs * rest, REST_MAX_MS);
    if (restMs < 1) return goOn(line);
    setTimeout(() => goOn(line), restMs).unref();
    admit();
  }

  function goOn(line: Line): void {
    line.isBusy = false;
    waitForTurn(line);
    forgetIdle(line);
    admit();
  }

  function forgetIdle(line: Line): void {
    if (line.waiting.size > 0) return;
    readyOf(line).delete(line);
    if (!line.isBusy) lines.delete(line.key);
  }

  function lineOf(caller: Caller): Line {
    const known = lines.get(caller.key);
    if (known) return known;
    const line = { ...caller, waiting: new Set<() => void>(), isBusy: false, turn: 0 };
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
    const begun = performance.now();
    try {
      return await command();
    } finally {
      leave(line, performance.now() - begun);
    }
  };
}
