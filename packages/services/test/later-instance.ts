import { openStorage } from '@tandem/storage';
import { createTestClock } from '@tandem/testing';
import { createTandem } from '../src/tandem.js';

/** Longer than a unit of work is its process's own, in milliseconds. */
const TAKEN_OVER_AFTER_MS = 61_000;

/** An instance of the same system that is a minute later than the others, and sweeps only when it is told to. */
export interface LaterInstance extends AsyncDisposable {
  sweep(): Promise<void>;
  /** Of the units that it knows. */
  unitNames(): string[];
}

/** @param uri of the database */
export async function openLaterInstance(uri: string): Promise<LaterInstance> {
  const clock = createTestClock();
  clock.advance(TAKEN_OVER_AFTER_MS);
  const storage = await openStorage({ uri, clock });
  const authSecrets = { authEncSecret: 'e'.repeat(32), authSignSecret: 's'.repeat(32) };
  const tandem = await createTandem({ storage, authSecrets });
  return {
    sweep: storage.sweep,
    unitNames: storage.unitNames,
    async [Symbol.asyncDispose]() {
      await tandem.close();
      await storage.close();
    },
  };
}
