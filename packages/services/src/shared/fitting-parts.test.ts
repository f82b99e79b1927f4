import { FACES, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { subscriptionModel } from '../chat/subscription.model.js';
import { identityModel } from '../identities/identity.model.js';
import { profileModel } from '../profiles/profile.model.js';

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());

describe.each(FACES)('over %s, a part that a host wrote wrongly', (face) => {
  const ask = (procedure: string, input: Record<string, unknown>) => ann.call(face, procedure, input);

  it('is no name, where a list shows the name of another record', async () => {
    const profile = (identityId: string, person: Person) =>
      person.rest('POST', '/profiles', { identityId, name: 'A name' }).expect<{ id: string }>(201);
    const bob = await app.signUp();
    const [own, other] = [await profile(ann.id, ann), await profile(bob.id, bob)];
    await bob.rest('PUT', `/profiles/${other.id}/profile-follows/${own.id}`).expect(204);
    await app.storage.model(profileModel).collection.updateOne({ _id: other.id } as object, { $set: { name: 7 } });
    expect(await ask('profiles.listFollowers', { profileId: own.id })).toMatchObject({
      ok: true,
      value: { data: [{ id: other.id, name: '' }] },
    });
  });

  it('is no time of reading', async () => {
    const { id: channelId } = await openChannel(ann);
    await app.storage.model(subscriptionModel).collection.updateOne({ channelId }, { $set: { readAt: 'today' } });
    expect(await ask('chat.readState', { channelId })).toMatchObject({ ok: true, value: { readAt: null } });
  });

  it.each([null, 5, [{ provider: 'google', linkedAt: 'today' }]])('is no link to a provider: %o', async (providers) => {
    const identities = app.storage.model(identityModel).collection;
    await identities.updateOne({ _id: ann.id } as object, { $set: { providers } });
    app.clock.advance(2000);
    expect(await ask('auth.listProviders', { identityId: ann.id })).toMatchObject({ ok: true, value: [] });
    await identities.updateOne({ _id: ann.id } as object, { $set: { providers: [] } });
  });
});
