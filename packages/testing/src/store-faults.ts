import type { Document } from './wire-messages.js';

/** A command on its way to the store. */
export interface StoreCommand {
  /** `insert`, `find` and so on, or `hello` of the handshake. */
  command: string;
  /** Its collection; of a `bulkWrite`, all of them joined by `+`; empty where a command has none. */
  collection: string;
  /** The command as sent, without the document sequences beside it. */
  body: Document;
}

/** What happens to a command. */
export type Fate =
  | { kind: 'pass' }
  /** The connection is cut: before the store sees the command, or after it is done, before the answer. */
  | { kind: 'cut'; when: 'before' | 'after' }
  /** It gets this answer, and the store never sees it. */
  | { kind: 'answer'; reply: Document }
  /** It is done, and these fields are added to its answer. */
  | { kind: 'amend'; fields: Document }
  /** It waits: before the store sees it, or after it is done, before the answer. */
  | { kind: 'hold'; when: 'before' | 'after'; until: Promise<void> };

type Matches = (command: StoreCommand) => boolean;
interface Planned {
  matches: Matches;
  fate: Fate;
  left: number;
  /** Called when it has happened for the last time. */
  happened(command: StoreCommand): void;
}

const WRITES = new Set(['insert', 'update', 'delete', 'findAndModify', 'bulkWrite']);

/** Whether a command writes documents; a pipeline may write, too. */
export const isWrite: Matches = ({ command, body }) => {
  if (WRITES.has(command)) return true;
  const stages = command === 'aggregate' ? (body['pipeline'] as Document[]) : [];
  return stages.some((stage) => '$merge' in stage || '$out' in stage);
};

/** Whether a command appends to the log of events, as it does whenever there is time: plans leave it out. */
export const isOfLog: Matches = ({ body }) => body['comment'] === 'event log';

/** Whether a command is the given one, as `collection.command`. */
export const isCommand =
  (name: string): Matches =>
  ({ collection, command }) =>
    `${collection}.${command}` === name;

/** A test's plans for later commands. Each promise resolves with the command when it has happened for the last time. */
export interface StoreFaults {
  /** Cuts the connection of the next matching commands. */
  cut(matches: Matches, when: 'before' | 'after', times?: number): Promise<StoreCommand>;
  /** Answers the next matching commands, which the store never sees. */
  answer(matches: Matches, reply: Document, times?: number): Promise<StoreCommand>;
  /** Lets the next matching commands run, and adds to their answers: for instance a write concern error. */
  amend(matches: Matches, fields: Document, times?: number): Promise<StoreCommand>;
  /** Holds back the next matching command, or its answer, until released. */
  hold(matches: Matches, when?: 'before' | 'after'): { reached: Promise<StoreCommand>; release(): void };
  /** Changes nothing. */
  seen(matches: Matches, times?: number): Promise<StoreCommand>;
  /** Drops the plans that have not happened. */
  clear(): void;
}

/** @returns the plans, and the function that applies them: each command takes the first that matches */
export function createStoreFaults(): { faults: StoreFaults; fateOf(command: StoreCommand): Fate } {
  let plan: Planned[] = [];

  function add(matches: Matches, fate: Fate, left = 1): Promise<StoreCommand> {
    return new Promise((resolve) => plan.push({ matches, fate, left, happened: resolve }));
  }

  return {
    faults: {
      cut: (matches, when, times) => add(matches, { kind: 'cut', when }, times),
      answer: (matches, reply, times) => add(matches, { kind: 'answer', reply }, times),
      amend: (matches, fields, times) => add(matches, { kind: 'amend', fields }, times),
      hold(matches, when = 'before') {
        let release = (): void => {};
        const until = new Promise<void>((resolve) => (release = resolve));
        return { reached: add(matches, { kind: 'hold', when, until }), release };
      },
      seen: (matches, times) => add(matches, { kind: 'pass' }, times),
      clear: () => void (plan = []),
    },
    fateOf(command) {
      const planned = plan.find(({ matches }) => matches(command));
      if (!planned) return { kind: 'pass' };
      planned.left -= 1;
      if (planned.left === 0) {
        plan = plan.filter((one) => one !== planned);
        planned.happened(command);
      }
      return planned.fate;
    },
  };
}
