import { defineModel, isDuplicateKey, newId, type BaseRecord, type Storage } from '@tandem/storage';

/** How long an instance keeps a turn that it does not renew, in milliseconds. */
export const TURN_MS = 60_000;

/** A job by its name: its last start, and who runs it. All by the store's time, on which instances agree. */
export interface JobTurnRecord extends BaseRecord {
  startedAt: Date;
  owner: string;
  /** When others may take the turn; long past when nobody has it. */
  leaseUntil: Date;
}
export const jobTurnModel = defineModel<JobTurnRecord>('tandemJobs', {
  fields: { startedAt: Date, owner: String, leaseUntil: Date },
  softDelete: false,
  indexes: [],
});
/** The last start of a job, and the milliseconds until it may start. */
export interface JobState {
  startedAt: Date;
  wait: number;
}
const NEVER = { owner: '', startedAt: new Date(0), leaseUntil: new Date(0) };

/** Decides over all instances which of them runs a job. A dead process holds a turn for a minute at most. */
export function createJobTurns(storage: Pick<Storage, 'clock' | 'model' | 'time'>) {
  const { collection } = storage.model(jobTurnModel);
  const owner = newId(storage.clock);
  const own = (name: string) => ({ _id: name, owner }) as object;
  const turnFrom = (now: Date) => new Date(now.getTime() + TURN_MS);
  /** Jobs whose taking got no answer, with their previous start: it may be stored though nothing runs. */
  const unheard = new Map<string, Date>();
  const taken = { owner, leaseUntil: { $gt: NEVER.leaseUntil } };

  /** @param startedAt the previous start, if nothing has begun */
  async function release(name: string, startedAt?: Date): Promise<void> {
    const $set = { leaseUntil: NEVER.leaseUntil, ...(startedAt && { startedAt }) };
    await collection.updateOne(own(name), { $set });
  }

  return {
    /**
     * The store's time, and for each of these jobs its last start and the milliseconds until it may start, negative if it is due.
     * @param intervals by name, in milliseconds
     */
    async look(intervals: ReadonlyMap<string, number>): Promise<{ now: Date; states: Map<string, JobState> }> {
      const ofJobs = { _id: { $in: [...intervals.keys()] } } as object;
      const [now, rows] = await Promise.all([storage.time(), collection.find(ofJobs).toArray()]);
      const found = new Map(rows.map((row) => [String(row._id), row as unknown as JobTurnRecord]));
      const states = [...intervals].map(([name, interval]): [string, JobState] => {
        const { startedAt, leaseUntil, owner: by } = found.get(name) ?? NEVER;
        const wait = Math.max(startedAt.getTime() + interval, leaseUntil.getTime()) - now.getTime();
        return [name, { startedAt, wait: unheard.has(name) && by === owner ? 0 : wait }];
      });
      return { now, states: new Map(states) };
    },

    /**
     * Takes the turn if the job is due and nobody runs it: of several that try at once, one gets it.
     * @param startedAt the last start
     * @param now the store's time, not older than `TURN_MS`
     * @returns the previous start; undefined where the turn was not taken
     */
    async take(name: string, { interval, startedAt, now }: { interval: number; startedAt: Date; now: Date }) {
      const isDue = { startedAt: { $lte: new Date(now.getTime() - interval) }, leaseUntil: { $lte: now } };
      const mayStart = unheard.has(name) ? { $or: [isDue, taken] } : isDue;
      const before = unheard.get(name) ?? startedAt;
      unheard.set(name, before);
      const $set = { startedAt: now, owner, leaseUntil: turnFrom(now), updatedAt: now };
      const stages = { $set, $setOnInsert: { createdAt: now } };
      try {
        await collection.updateOne({ _id: name, ...mayStart } as object, stages, { upsert: true });
        unheard.delete(name);
        return before;
      } catch (error) {
        // the row is there, and not due
        if (isDuplicateKey(error) === false) throw error;
        unheard.delete(name);
        return undefined;
      }
    },

    /** Keeps the turn for another minute. @returns false if another instance has taken it */
    async renew(name: string, now: Date): Promise<boolean> {
      const $set = { leaseUntil: turnFrom(now), updatedAt: now };
      const { matchedCount } = await collection.updateOne(own(name), { $set });
      return matchedCount > 0;
    },

    release,

    /** Gives back what was taken without an answer. */
    async releaseUnheard(): Promise<void> {
      await Promise.all([...unheard].map(([name, startedAt]) => release(name, startedAt)));
    },
  };
}
