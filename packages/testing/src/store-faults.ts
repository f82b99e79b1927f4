import type { Document } from './wire-messages.js';

/** A command on its way to the store. */
export interface StoreCommand {
  /** `insert`, `find` and so on, or of the handshake `hello`. */
  command: string;
  /** Its collection; of a `bulkWrite`, all of them, with a `+` between; empty where a command has none. */
  collection: string;
  /** The command as it was sent, without the lists of documents beside it. */
  body: Document;
}

/** What becomes of a command. */
export type Fate =
  | { kind: 'pass' }
  /** The connection is cut: before the store has seen the command, or after it is done, before the answer. */
  | { kind: 'cut'; when: 'before' | 'after' }
  /** It gets this answer, and the store never sees it. */
  | { kind: 'answer'; reply: Document }
  /** It is done, and to its answer these fields are added. */
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

/** Whether a command writes documents: a pipeline may, too. */
export const isWrite: Matches = ({ command, body }) => {
  if (WRITES.has(command)) return true;
  const stages = command === 'aggregate' ? (body['pipeline'] as Document[]) : [];
  return stages.some((stage) => '$merge' in stage || '$out' in stage);
};

/** Whether a command is of this name, as `collection.command`. */
export const isCommand =
  (name: string): Matches =>
  ({ collection, command }) =>
    `${collection}.${command}` === name;

/** What a test has planned for commands to come. Each promise resolves with the command when it has happened for the last time. */
export interface StoreFaults {
  /** Cuts the connection of the next commands. */
  cut(matches: Matches, when: 'before' | 'after', times?: number): Promise<StoreCommand>;
  /** Answers the next commands, which the store never sees. */
  answer(matches: Matches, reply: Document, times?: number): Promise<StoreCommand>;
  /** Lets the next commands be done, and adds to their answers: an error of the write concern, for instance. */
  amend(matches: Matches, fields: Document, times?: number): Promise<StoreCommand>;
  /** Keeps the next command, or the answer to it, back until it is released. */
  hold(matches: Matches, when?: 'before' | 'after'): { reached: Promise<StoreCommand>; release(): void };
  /** Changes nothing. */
  seen(matches: Matches, times?: number): Promise<StoreCommand>;
  /** Forgets what has not happened. */
  clear(): void;
}

/** @returns the plan, and what asks it: each command takes the first that is meant for it */
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
