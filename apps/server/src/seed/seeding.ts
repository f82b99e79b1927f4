import type { Tandem } from '@tandem/services';
import { actingAs } from '@tandem/storage';
import type { MovableClock } from './movable-clock.js';
import type { Upload } from './upload.js';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** How much is under way at once: the engine takes eight commands. */
const LANES = 8;
/** The same where passwords are hashed: more of them than cores would only wait, and be refused where other programs are busy. */
export const PASSWORD_LANES = 2;

/** A file to upload. */
export interface SeedFile {
  type: string;
  content: Buffer;
}

/** What everything is made with. */
export interface Seeding extends Pick<Tandem, 'services'> {
  /** For what nobody is signed in for. */
  clock: MovableClock;
  /** Nothing is made after it. */
  now: Date;
  password: string;
  upload: Upload;
  /** Does something in somebody's name, as events tell, at a time. */
  act<T>(identityId: string, time: Date, run: () => Promise<T>): Promise<T>;
}

/** What a database is filled with. */
export interface SeedOptions extends Pick<Seeding, 'clock' | 'password' | 'upload'> {
  tandem: Pick<Tandem, 'services'>;
}

export function createSeeding({ tandem: { services }, ...options }: SeedOptions): Seeding {
  const { clock } = options;
  const act: Seeding['act'] = (id, time, run) => clock.at(time, () => actingAs({ type: 'identity', id }, run));
  return { ...options, services, now: clock.now(), act };
}

export const picture = (content: Buffer): SeedFile => ({ type: 'image/svg+xml', content });

/** A time before now, never a later one. */
export function ago({ now }: Pick<Seeding, 'now'>, days: number, minutes = 0): Date {
  return new Date(Math.min(now.getTime(), now.getTime() - days * DAY_MS + minutes * MINUTE_MS));
}

/**
 * Uploads a file, in the present, whose addresses are valid for some minutes.
 * @returns what it is attached by, at any time
 */
export async function uploaded(
  { act, upload }: Pick<Seeding, 'act' | 'upload'>,
  identityId: string,
  { type, content }: SeedFile,
  issue: (request: { contentType: string; contentLength: number }) => Promise<{ objectId: string; url: string }>,
): Promise<{ objectId: string; type: string }> {
  return act(identityId, new Date(), async () => {
    const { objectId, url } = await issue({ contentType: type, contentLength: content.length });
    await upload({ objectId, url }, type, content);
    return { objectId, type };
  });
}

/** Runs something for each, some at once. Results come in order. */
export async function forEach<T, R>(all: readonly T[], run: (one: T, at: number) => Promise<R>, lanes = LANES): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  async function lane(): Promise<void> {
    while (next < all.length) {
      const at = next++;
      results[at] = await run(all[at] as T, at);
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
