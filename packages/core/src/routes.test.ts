import { expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer } from '../test/core-server.js';
import { admin, anyOf, authenticatedRoute, operationsOf, publicRoute, router, self, whoOf } from './index.js';

const options = { summary: 'Read', failure: 'Failed to read' };
const read = router({
  all: authenticatedRoute('GET /all', { ...options, allow: [self('id'), anyOf(admin, self('ownerId'))] })
    .output(z.void())
    .query(() => {}),
  known: authenticatedRoute('GET /known', options)
    .output(z.void())
    .query(() => {}),
  open: publicRoute('GET /open', options)
    .output(z.void())
    .query(() => {}),
});
const change = router({
  forget: publicRoute('DELETE /open', { ...options, status: 204 }).mutation(() => {}),
});

it('a route admits those who pass all of its rules in order, anybody who is signed in without rules, and anybody if public', () => {
  expect(operationsOf(read).map((operation) => [operation.path, whoOf(operation)])).toEqual([
    ['/all', 'the identity that id names; an admin or the identity that ownerId names'],
    ['/known', 'anybody who is signed in'],
    ['/open', 'anybody'],
  ]);
});

it('a route that is given something other than a rule is an error of the program, not open to all', () => {
  const open = () => authenticatedRoute('GET /all', { ...options, allow: [undefined] as never });
  expect(open).toThrow(TypeError);
});

it('a route with status 204 answers nothing on both faces, without an output of its own', async () => {
  await using served = await startCoreServer(change);
  const rest = await fetch(`${served.url}/open`, { method: 'DELETE' });
  expect([rest.status, await rest.text()]).toEqual([204, '']);
  const trpc = await fetch(`${served.url}/trpc/forget`, { method: 'POST' });
  expect([trpc.status, await trpc.json()]).toEqual([200, { result: {} }]);
});
