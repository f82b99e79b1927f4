import { expect, it } from 'vitest';
import { createShortCopies } from './short-copies.js';

/** Values of a store that counts who asks for what. */
function store(values: Record<string, string>) {
  const asked: (readonly string[])[] = [];
  return {
    asked,
    read(keys: readonly string[]): Promise<Map<string, string>> {
      asked.push(keys);
      return Promise.resolve(new Map(Object.entries(values).filter(([key]) => keys.includes(key))));
    },
  };
}

it('reads the values of several keys at once, and only those without a copy', async () => {
  const copies = createShortCopies<string>();
  const { asked, read } = store({ a: 'A', b: 'B', c: 'C' });
  const both = Promise.all([copies.many(['a', 'b'], read), copies.many(['c', 'a'], read)]);
  expect(await both).toEqual([
    new Map([
      ['a', 'A'],
      ['b', 'B'],
    ]),
    new Map([
      ['c', 'C'],
      ['a', 'A'],
    ]),
  ]);
  expect(await copies.many(['b', 'c'], read)).toEqual(
    new Map([
      ['b', 'B'],
      ['c', 'C'],
    ]),
  );
  expect(asked).toEqual([['a', 'b'], ['c']]);
});

it('asks again for what was not there, what was cleared, and what could not be read', async () => {
  const copies = createShortCopies<string>();
  const { asked, read } = store({ a: 'A' });
  for (let n = 0; n < 2; n++) expect(await copies.many(['a', 'gone'], read)).toEqual(new Map([['a', 'A']]));
  copies.clear();
  await expect(copies.many(['a', 'b'], () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  await copies.many(['a'], read);
  expect(asked).toEqual([['a', 'gone'], ['gone'], ['a']]);
});
