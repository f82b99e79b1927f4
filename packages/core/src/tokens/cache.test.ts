import { expect, it } from 'vitest';
import { createTokenCache } from './cache.js';
import type { TokenClaims } from './claims.js';

const claims: TokenClaims = { type: 'access', jti: 'j', sub: 'ann', iat: 1, exp: 2 };
const never = () => Promise.reject(new Error('was read'));

it('a token that was added is not read', async () => {
  const cache = createTokenCache();
  cache.add('token', claims);
  expect(await cache.get('token', never)).toBe(claims);
  await expect(cache.get('other', never)).rejects.toThrow('was read');
});

it('a token is read once, also by concurrent callers, and is given to the reader', async () => {
  const cache = createTokenCache();
  const read: string[] = [];
  const reader = (token: string) => {
    read.push(token);
    return Promise.resolve({ ...claims });
  };
  const [first, second] = await Promise.all([cache.get('token', reader), cache.get('token', reader)]);
  expect([first === second, (await cache.get('token', reader)) === first, read]).toEqual([true, true, ['token']]);
});

it('a read that fails is not remembered', async () => {
  const cache = createTokenCache();
  await expect(cache.get('token', never)).rejects.toThrow('was read');
  expect(await cache.get('token', () => Promise.resolve(claims))).toBe(claims);
  expect(await cache.get('token', never)).toBe(claims);
});

it('a read that fails late leaves what has been added meanwhile', async () => {
  const cache = createTokenCache();
  let fail = (_error: Error) => {};
  const reading = cache.get('token', () => new Promise((_resolve, reject) => (fail = reject)));
  cache.add('token', claims);
  fail(new Error('too late'));
  await expect(reading).rejects.toThrow('too late');
  expect(await cache.get('token', never)).toBe(claims);
});
