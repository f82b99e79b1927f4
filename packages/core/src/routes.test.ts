import { expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer } from '../test/core-server.js';
import { admin, anyOf, authenticatedRoute, operationsOf, publicRoute, router, self, whoOf } from './index.js';

const options = { summary: 'Read', failure: 'Failed to read' };
/** Made within the tests, so that the tests of a changed line are known. */
const readOf = () =>
  router({
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
it('a route admits those who pass all of its rules in order, anybody who is signed in without rules, and anybody if public', () => {
  expect(operationsOf(readOf()).map((operation) => [operation.path, whoOf(operation)])).toEqual([
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
  const change = router({
    forget: publicRoute('DELETE /open', { ...options, status: 204 }).mutation(() => {}),
    leave: authenticatedRoute('DELETE /known', { ...options, status: 204 }).mutation(() => {}),
  });
  await using served = await startCoreServer(change);
  const headers = { authorization: 'Bearer ann' };
  for (const path of ['/open', '/known'])
    expect(await served.ask('DELETE', path, { headers })).toMatchObject({ status: 204, body: undefined });
  for (const name of ['forget', 'leave'])
    expect(await served.ask('POST', `/trpc/${name}`, { headers })).toMatchObject({ status: 200, body: { result: {} } });
});

it('a route with another status answers its output', async () => {
  const output = z.object({ n: z.number() });
  const count = router({
    open: publicRoute('GET /open', options).output(output).query(() => ({ n: 1 })), // prettier-ignore
    known: authenticatedRoute('POST /known', { ...options, status: 201 }).output(output).mutation(() => ({ n: 2 })), // prettier-ignore
  });
  await using served = await startCoreServer(count);
  expect(await served.ask('GET', '/open')).toMatchObject({ status: 200, body: { n: 1 } });
  const headers = { authorization: 'Bearer ann' };
  expect(await served.ask('POST', '/known', { headers })).toMatchObject({ status: 201, body: { n: 2 } });
});
