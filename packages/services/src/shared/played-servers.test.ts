import { randomUUID } from 'node:crypto';
import {
  databaseOf,
  FACES,
  PASSWORD,
  expectListConvention,
  fixture,
  startStoreProxy,
  startTestServer,
  type PlayedServer,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel, valueOf } from '../../test/chat-world.js';
import { EVERY_LIST, fillEveryList } from '../../test/every-list.js';
import { productModel } from '../products/product.model.js';

/** The servers that Tandem runs on, and how each refuses the one command of MongoDB 8.0 that is used where it can be. */
const SERVERS: [PlayedServer, refused: string[]][] = [
  ['MongoDB 7.0', []],
  // which its version does not tell: it is asked once
  ['MongoDB 8.0 at compatibility 7.0', ['sessions+securityEvents+knownPlaces+failedLogins.bulkWrite']],
  ['MongoDB 8.0', []],
];

describe.each(SERVERS)('against %s', (as, refused) => {
  const proxy = fixture(() => startStoreProxy(databaseOf(`played_${SERVERS.findIndex(([name]) => name === as)}`), { as }));
  const app = fixture(() => startTestServer({ mongodbUri: proxy.uri }));

  describe.each(FACES)('over %s', (face) => {
    it('a person registers, signs in, renews the tokens, orders, writes, and asks lists', async () => {
      const email = `${randomUUID()}@example.org`;
      valueOf(await app.call(face, 'auth.register', { email, password: PASSWORD }));
      const login = { email, password: PASSWORD };
      const { id, refreshToken } = valueOf(await app.call(face, 'auth.login', login)) as { id: string; refreshToken: string };
      const renewed = valueOf(await app.call(face, 'auth.refreshToken', { refreshToken })) as { accessToken: string };
      const call = async (name: string, input: Record<string, unknown>) => valueOf(await app.call(face, name, input, renewed));

      const { _id: productId } = await app.storage.model(productModel).create({ name: 'Bread' });
      const items = [{ productId, quantity: 2, price: 2.5 }];
      expect(await call('orders.create', { identityId: id, currency: 'EUR', items })).toMatchObject({ status: 'pending' });
      const ann = await app.signIn(email);
      const { id: channelId } = await openChannel(ann);
      expect(await call('chat.createMessage', { channelId, senderId: id, content: 'Hello' })).toMatchObject({ seq: 1 });
      const counted = { identityId: id, $apply: 'groupby((status), aggregate($count as n))' };
      expect(await call('orders.list', counted)).toMatchObject({ value: [{ status: 'pending', n: 1 }] });
    });
  });

  it('every list answers as ever', async () => {
    const world = await fillEveryList(app, 5);
    for (const [procedure, caseOf] of Object.entries(EVERY_LIST)) {
      const { person, ...list } = caseOf(world);
      await expectListConvention(person, 'trpc', { procedure, ...list });
    }
  }, 60_000);

  it('nothing was asked that it does not have, but for the command that 8.0 was asked for once', () => {
    expect(proxy.refusals.map(({ collection, command }) => `${collection}.${command}`)).toEqual(refused);
  });
});
