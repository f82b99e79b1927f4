import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';

const BATCH = 20_000;

/** A record as the services store it, of any kind. */
export interface Stored {
  _id: string;
  [field: string]: unknown;
}

/** A live record with these fields, created `at` seconds after the first. */
export function record(at: number, fields: Record<string, unknown>): Stored {
  const createdAt = new Date(1_700_000_000_000 + at * 1000);
  return { _id: randomUUID(), ...fields, createdAt, updatedAt: createdAt, deletedAt: null, deletionId: null };
}

/** Writes records as a host application may, many per command. */
export async function insert(db: Db, name: string, rows: readonly Stored[]): Promise<void> {
  for (let from = 0; from < rows.length; from += BATCH)
    await db.collection<Stored>(name).insertMany(rows.slice(from, from + BATCH), { ordered: false });
}
