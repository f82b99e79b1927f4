import { randomUUID } from 'node:crypto';
import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { createKeptAnswers } from './kept-answers.js';

const DAY_MS = 24 * 60 * 60_000;
const app = fixture(startTestServer);

it('a key expires by the store’s time, whatever the clocks of the instances say', async () => {
  const call = { identityId: randomUUID(), operation: 'orders.create', key: randomUUID(), given: {}, input: {} };
  /** As an instance whose clock is wrong by this. */
  const begin = (skewMs: number) => {
    const clock = { ...app.clock, now: () => new Date(app.clock.now().getTime() + skewMs) };
    return createKeptAnswers({ storage: { ...app.storage, clock }, holdMs: 1000 }).begin(call, () => undefined);
  };
  const first = await begin(-2 * DAY_MS);
  if ('answer' in first) throw new Error('answered before it was called');
  await first.keep('made');
  for (const skewMs of [0, 2 * DAY_MS]) expect(await begin(skewMs)).toEqual({ answer: 'made' });
  app.clock.advance(DAY_MS + 1);
  expect(await begin(-2 * DAY_MS)).not.toHaveProperty('answer');
});
