import { LIMITS } from '@tandem/list-query';
import { FACES, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { organizationModel } from '../organizations/organization.model.js';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const TOO_MUCH = { ok: false, status: 400, data: ["query parameter '$expand' gives too much"] };

/** An organization of one who exists and of others who are gone. @returns its id */
async function owned(owner: Person, gone: number): Promise<string> {
  const _id = crypto.randomUUID();
  const ids = [owner.id, ...Array.from({ length: gone }, () => crypto.randomUUID())];
  const members = ids.map((identityId) => ({ identityId, role: 'owner', joinedAt: new Date() }));
  await app.storage.model(organizationModel).create({ _id, name: _id, description: '', contact_email: 'a@example.org', members });
  return _id;
}

describe.each(FACES)('the owners of organizations over %s', (face) => {
  it('count one by one as related records, before their cards are read', async () => {
    const owner = await app.signUp();
    const most = await owned(owner, LIMITS.expandRecords - 1);
    const get = (organizationId: string) => owner.call(face, 'organizations.get', { organizationId, $expand: 'owners' });
    expect(await get(most)).toMatchObject({ ok: true, value: { owners: [{ id: owner.id }] } });
    expect(await get(await owned(owner, LIMITS.expandRecords))).toMatchObject(TOO_MUCH);
  });

  it('count for all organizations of an answer together', async () => {
    const owner = await app.signUp();
    const ids = [await owned(owner, LIMITS.expandRecords / 2 - 1), await owned(owner, LIMITS.expandRecords / 2)];
    const list = (...of: string[]) =>
      admin.call(face, 'organizations.list', { $filter: `id in ('${of.join("', '")}')`, $expand: 'owners' });
    for (const id of ids) expect(await list(id)).toMatchObject({ ok: true });
    expect(await list(...ids)).toMatchObject(TOO_MUCH);
  });
});
