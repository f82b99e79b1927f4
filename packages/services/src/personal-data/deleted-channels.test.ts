import { NOBODY } from '@tandem/storage';
import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { letErasuresPass } from '../../test/named-person.js';
import { channelModel } from '../chat/channel.model.js';

const app = fixture(() => startTestServer({ erasure: { erasureDelay: '0s', erasedMessages: 'keep' } }));

it('a deleted channel whose owner is erased passes to a member who comes back with it', async () => {
  const [admin, ann, bob, cem] = [await app.signUpAdmin(), await app.signUp(), await app.signUp(), await app.signUp()];
  const [many, alone] = [await openChannel(ann, [bob, cem]), await openChannel(ann)];
  // who has left does not come back
  const { data } = await ann
    .rest('GET', `/subscriptions?channelId=${many.id}`)
    .expect<{ data: { id: string; subscribedId: string }[] }>(200);
  const left = data.find(({ subscribedId }) => subscribedId === bob.id)?.id;
  await bob.rest('DELETE', `/subscriptions/${left}`).expect(204);
  for (const { id } of [many, alone]) await ann.rest('DELETE', `/channels/${id}`).expect(204);
  await ann.rest('POST', `/auth/${ann.id}/erase`).expect(202);
  await letErasuresPass(app);
  const { rest } = await app.signIn(admin.email);
  expect(await rest('POST', `/channels/${many.id}/restore`).expect(200)).toMatchObject({ ownerId: cem.id });
  const { collection } = app.storage.model(channelModel);
  expect(await collection.findOne({ _id: alone.id } as object)).toMatchObject({ ownerId: NOBODY });
});
