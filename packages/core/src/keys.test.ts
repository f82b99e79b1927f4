import { describe, expect, it } from 'vitest';
import { checkScopes, isKey, isNamedBy, keyErrors, mayAsk } from './keys.js';

const list = { name: 'products.list', isRead: true };
const create = { name: 'products.create', isRead: false };
const deep = { name: 'shop.tills.open', isRead: false };

describe('a scope', () => {
  it.each<[string, object[]]>([
    ['*', [list, create, deep]],
    ['*:read', [list]],
    ['products.*', [list, create]],
    ['products.*:read', [list]],
    ['products.create', [create]],
    ['products.create:read', []],
    ['products.list:read', [list]],
    ['shop.*', [deep]],
    ['shop.tills.*', [deep]],
    ['products', []],
    ['product.*', []],
    ['prod*', []],
    ['.*', []],
    ['', []],
    [':read', []],
  ])('%j names the procedures that it says', (scope, named) => {
    expect([list, create, deep].filter((one) => isNamedBy(scope, one))).toEqual(named);
  });
});

describe('a caller', () => {
  const identity = { id: 'ann', typeId: 'regular', sessionId: 's' };
  const keyed = (...scopes: string[]) => ({ ...identity, key: { id: 's', scopes } });

  it('without a key may ask for everything, with one for what its scopes name', () => {
    expect(mayAsk(identity, create, new Set(['products']))).toBe(true);
    expect(mayAsk(keyed('orders.*', 'products.create'), create)).toBe(true);
    expect(mayAsk(keyed('orders.*', '*:read'), create)).toBe(false);
    expect(() => checkScopes(keyed(), list)).toThrow(keyErrors.notAllowed.message);
  });

  it('reaches no keyless service with a key', () => {
    expect(mayAsk(keyed('*', 'products.list'), list, new Set(['products']))).toBe(false);
    expect(mayAsk(keyed('*'), list, new Set(['prod', 'products.list']))).toBe(true);
  });
});

it('a key is told from an access token by its beginning', () => {
  expect(['tdm_x', 'tdm_'].every(isKey)).toBe(true);
  expect(['eyJhbGciOi', 'TDM_x', ' tdm_x', ''].some(isKey)).toBe(false);
});
