import { ListTimeLimitError } from './errors.js';

/** A caller, as the gate distinguishes them. */
export interface Caller {
  /** The same for all requests of one caller. */
  key: string;
  /** One of the callers that share the anonymous part of the places. */
  isAnonymous: boolean;
}

export interface GateSettings {
  /** Store commands that may run concurrently. */
  atOnce: number;
  /** The part of these that anonymous callers share. Default all. */
  anonymousAtOnce?: number;
  /** Longest wait; then the command fails with ListTimeLimitError. Default 5,000 ms. */
  waitMs?: number;
  /** How long a caller pauses after a turn, as a multiple of the turn's duration, at most half a second. Default 0. */
  rest?: number;
  /** The part of a turn that needs no pause, in milliseconds. Default 0. */
  restFreeMs?: number;
  /** Adds to a caller's pause, in milliseconds, by what its command returned. Default none. */
  restAfter?: (outcome: unknown) => number;
  /** Commands of one caller that may wait; further ones fail at once. Default 100. */
  waitingMax?: number;
}

/**
 * Runs a store command when it is its caller's turn.
 * @throws ListTimeLimitError after waiting too long; the signal's reason when aborted while waiting
 */
export type Gate = <T>(caller: Caller, command: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface Line extends Caller {
  waiting: Set<() => void>;
  /** It has a command running, or pauses, so no other may start. */
  isBusy: boolean;
  /** When it began to wait for its next turn, as a sequence number. */
  turn: number;
}

const REST_MAX_MS = 500;

/**
 * Leaves room for cheap commands and shares the rest fairly: each caller has one command running, and callers take
 * turns, however much each of them asks (decisions H1).
 */
export function createGate({
  atOnce,
  anonymousAtOnce = atOnce,
  waitMs = 5000,
  waitingMax = 100,
  rest = 0,
  restFreeMs = 0,
  restAfter = () => 0,
}: GateSettings): Gate {
  const lines = new Map<string, Line>();
  /** Callers that wait and have nothing running, next first: anonymous and identified ones. */
  const ready = { anonymous: new Set<Line>(), identified: new Set<Line>() };
  let underWay = 0;
  let anonymousUnderWay = 0;
  let turns = 0;

  const readyOf = ({ isAnonymous }: Line) => (isAnonymous ? ready.anonymous : ready.identified);

  function waitForTurn(line: Line): void {
    if (line.isBusy || line.waiting.size === 0 || readyOf(line).has(line)) return;
    turns += 1;
    line.turn = turns;
    readyOf(line).add(line);
  }

  function nextLine(): Line | undefined {
    if (underWay >= atOnce) return undefined;
    const [identified] = ready.identified;
    const [anonymous] = anonymousUnderWay < anonymousAtOnce ? ready.anonymous : [];
    return identified && (!anonymous || identified.turn < anonymous.turn) ? identified : anonymous;
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

  function leave(line: Line, turnMs: number, moreMs: number): void {
    count(line, -1);
    const restMs = Math.min(Math.max(0, turnMs - restFreeMs) * rest, REST_MAX_MS) + moreMs;
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
    const existing = lines.get(caller.key);
    if (existing) return existing;
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
    let moreMs = 0;
    try {
      const outcome = await command();
      moreMs = restAfter(outcome);
      return outcome;
    } finally {
      leave(line, performance.now() - begun, moreMs);
    }
  };
}
