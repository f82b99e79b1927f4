import { FACES, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { letErasuresPass } from '../../test/named-person.js';
import { createOrganization } from '../../test/people.js';

const app = fixture(() => startTestServer({ erasure: { erasureDelay: '0s' } }));
const NOT_FOUND = { ok: false, status: 404, message: 'Identity not found' };

describe.each(['but for a last look', 'for good'])('whoever was erased %s', (how) => {
  let id: string;
  let bob: Person;
  let admin: Person;
  let organizationId: string;
  let channelId: string;
  let emptyChannelId: string;
  beforeAll(async () => {
    const [person, other] = [await app.signUp({ isVerified: true }), await app.signUp({ isVerified: true })];
    channelId = (await openChannel(other, [person])).id;
    emptyChannelId = (await openChannel(other)).id;
    organizationId = await createOrganization(other, { member: [person] });
    await person.rest('POST', `/auth/${person.id}/erase`).expect(202);
    app.clock.advance(10_000);
    await app.tandem.runJobs();
    if (how === 'for good') await letErasuresPass(app);
    id = person.id;
    bob = await app.signIn(other.email);
    admin = await app.signUpAdmin();
  });

  describe.each(FACES)('over %s', (face) => {
    it('is not named anew by others', async () => {
      const message = { channelId, senderId: bob.id, content: 'Hello', mentions: [id] };
      const mention = await bob.call(face, 'chat.createMessage', message);
      expect(mention).toMatchObject({ status: 400, data: ['request body/mentions must be members of the channel'] });
      for (const [name, input] of [
        ['chat.createSubscription', { channelId: emptyChannelId, subscribedId: id }],
        ['organizations.upsertMembers', { organizationId, members: [{ identityId: id, role: 'admin' }] }],
        ['chat.createBan', { channelId, identityId: id }],
      ] as const)
        expect(await bob.call(face, name, input), name).toEqual(NOT_FOUND);
      const unseen = { ok: false, status: 404, message: 'Person not found' };
      expect(await bob.call(face, 'chat.openDirectChannel', { identityId: id })).toEqual(unseen);
      expect(await bob.call(face, 'people.get', { identityId: id })).toEqual(unseen);
    });

    it('is not found by an admin, in whatever way', async () => {
      for (const [name, input] of [
        ['profiles.create', { name: 'x' }],
        ['auth.ottGenerate', {}],
        ['auth.createKey', { name: 'x', scopes: ['*'] }],
        ['auth.requestExport', {}],
        ['auth.erase', {}],
        ['auth.activate', {}],
        ['auth.factors', {}],
        ['auth.deleteFactors', {}],
        ['auth.listProviders', {}],
        ['identities.restore', {}],
        ['identities.lock', {}],
        ['identities.patch', { metadata: { a: 'b' } }],
        ['identities.delete', {}],
      ] as const)
        expect(await admin.call(face, name, { identityId: id, ...input }), name).toEqual(NOT_FOUND);
      expect(await admin.call(face, 'auth.cancelErasure', { identityId: id })).toMatchObject({ message: 'Erasure not found' });
    });
  });
});
