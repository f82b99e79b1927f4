import { createHash } from 'node:crypto';
import { PASSWORD, fixture, startStoreProxy, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { failedLoginModel } from './failed-login.model.js';

const app = fixture(startTestServer);

it.each([
  ['succeeds', PASSWORD, 200],
  ['names nobody', PASSWORD, 401],
] as const)(
  'an attempt that %s leaves the places of those that are under way on other instances',
  async (_, password, status) => {
    const email = status === 200 ? (await app.signUp()).email : `${crypto.randomUUID()}@example.org`;
    const { collection } = app.storage.model(failedLoginModel);
    const _id = createHash('sha256').update(email).digest('base64url');
    const until = new Date(app.clock.now().getTime() + 60_000);
    const place = { id: crypto.randomUUID(), until };
    await collection.updateOne(
      { _id } as object,
      { $set: { failures: 0, underWay: [place], expiresAt: until } },
      { upsert: true },
    );
    await app.rest('POST', '/auth/login', { email, password }).expect(status);
    expect(await collection.findOne({ _id } as object)).toMatchObject({ underWay: [place] });
  },
);

it('an attempt frees its place when it ends, even if the write of its session has an unknown outcome', async () => {
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using cut = await startTestServer({ mongodbUri: proxy.uri, clock: app.clock });
  const { email } = await app.signUp();
  // more than there are places
  for (let n = 0; n < 6; n++) {
    const wasCut = proxy.cut(({ command }) => command === 'bulkWrite', 'before');
    await cut.rest('POST', '/auth/login', { email, password: PASSWORD }).expect(503);
    await wasCut;
  }
  await app.rest('POST', '/auth/login', { email, password: PASSWORD }).expect(200);
});
