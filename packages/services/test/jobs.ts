import { openStorage, type Clock, type Storage } from '@tandem/storage';
import { createTestClock, type StoreCommand } from '@tandem/testing';
import { onTestFinished } from 'vitest';
import { jobTurnModel } from '../src/jobs/job-turns.js';
import { createJobs, type JobRun, type Jobs } from '../src/jobs/jobs.js';

export interface Instance extends Jobs {
  storage: Storage;
  logged: { level: string; facts: { job?: string; err?: { message: string } }; text: string }[];
}

/** The jobs of an instance over a database. */
export async function openJobs(uri: string, clock: Clock = createTestClock()): Promise<Instance> {
  const logged: Instance['logged'] = [];
  const at = (level: string) => (facts: object, text: string) => void logged.push({ level, facts, text });
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const storage = await openStorage({ uri, clock });
  const jobs = createJobs({ storage, log });
  onTestFinished(() => jobs.stop().then(storage.close));
  return { ...jobs, storage, logged };
}

export const textsOf = ({ logged }: Instance) => logged.map(({ text }) => text);
export const turnOf = ({ storage }: Instance, name: string) => storage.model(jobTurnModel).findById(name).lean();
export const isOfTurns = (wanted: string) => (sent: StoreCommand) =>
  sent.collection === jobTurnModel.collectionName && sent.command === wanted;
let count = 0;
export const newName = () => `job ${++count}`;

/** A run that goes on until it is let go, or told to end. */
export function held() {
  let letGo = (): void => {};
  let begin = (_: AbortSignal): void => {};
  const begun = new Promise<AbortSignal>((resolve) => (begin = resolve));
  const run: JobRun = ({ signal }) =>
    new Promise<void>((resolve, reject) => {
      letGo = resolve;
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      begin(signal);
    });
  return { run, begun, letGo: () => letGo() };
}
