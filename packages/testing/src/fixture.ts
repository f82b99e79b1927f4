import { afterAll, beforeAll } from 'vitest';

/**
 * What the tests of a file or of a `describe` share. It is made before the first of them, in the order of the calls,
 * and disposed of after the last, in the opposite order. Until it is made, the returned object is empty: hooks, tests and
 * later fixtures may use its fields, the code around them may only hand it on.
 *
 * @param make returns a plain object, not an array or an instance of a class: its fields are copied
 */
export function fixture<T extends object>(make: () => T | Promise<T>): T {
  const made = {} as T & Partial<AsyncDisposable>;
  beforeAll(async () => {
    Object.defineProperties(made, Object.getOwnPropertyDescriptors(await make()));
  });
  afterAll(() => made[Symbol.asyncDispose]?.());
  return made;
}
