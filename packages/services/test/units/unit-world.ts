import type { Person } from '@tandem/testing';
import { expect } from 'vitest';

export type Request = [method: string, path: string, body?: unknown];
/** Asks whether what was written after the crash still stands. */
export type Stands = () => Promise<unknown>;

/** One kind of units: a request that runs one, and what people do meanwhile. */
export interface UnitKind {
  /** What it is about, made anew: ids by their names. */
  prepare(): Promise<Record<string, string>>;
  request(given: Record<string, string>): Request;
  /** What people see of it, without ids. */
  look(given: Record<string, string>): Promise<unknown>;
  /** Changes it as far as it can be changed, wherever the process died. */
  change(given: Record<string, string>): Promise<Stands>;
}

export type UnitWorld = ReturnType<typeof createUnitWorld>;

/** What the admin does and sees. @param admin whose token is of this hour */
export function createUnitWorld(admin: () => Person) {
  const send = (...[method, path, body]: Request) => admin().rest(method, path, body);
  const made = async (path: string, body: unknown) => (await send('POST', path, body).expect<{ id: string }>(201)).id;
  const rows = async (path: string) => (await send('GET', path).expect<{ data: Record<string, unknown>[] }>(200)).data;
  const statusOf = async (path: string) => (await send('GET', path)).status;
  const bodyOf = (path: string) => send('GET', path).expect<Record<string, unknown>>(200);
  const named = async (path: string, field = 'name') => (await rows(path)).map((row) => String(row[field])).toSorted();

  /** Lets it live, and changes it; it lives afterwards, changed. */
  async function reviveAndPatch(path: string, patch: Record<string, unknown>): Promise<Stands> {
    await send('POST', `${path}/restore`);
    await send('PATCH', path, patch).expect(200);
    return async () => expect(await bodyOf(path)).toMatchObject(patch);
  }
  /** Lets it live, and deletes it; it is gone afterwards. */
  async function reviveAndDelete(path: string): Promise<Stands> {
    await send('POST', `${path}/restore`);
    await send('DELETE', path).expect(204);
    return async () => expect(await statusOf(path)).toBe(404);
  }

  const found = () =>
    made('/organizations', { organization: { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' } });

  return { send, made, rows, statusOf, bodyOf, named, reviveAndPatch, reviveAndDelete, found };
}
