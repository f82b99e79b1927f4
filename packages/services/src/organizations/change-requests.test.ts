import { FACES, NO_ID, fixture, makeFolder, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import type { ChangeRequest } from './change-requests.schemas.js';
import type { Organization } from './organizations.schemas.js';

const failure = (status: number, message: string) => ({ ok: false, status, message });
const MISSING = failure(404, 'Change request not found');
const NO_ORGANIZATION = failure(404, 'Organization not found');
const DECIDED = failure(409, 'Change request is already decided');
const taken = (name: string) => failure(400, `Organization with name ${name} already exists with same owner`);

const folder = fixture(makeFolder);
const app = fixture(() => startTestServer({ dataDir: folder.path }));
const other = fixture(() => startTestServer({ clock: app.clock, dataDir: folder.path }));
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());

const newName = () => `Bakery ${crypto.randomUUID()}`;
async function create(name = newName(), person = ann): Promise<Organization> {
  const organization = { name, description: 'Bread', contact_email: 'bread@example.org' };
  return person.rest('POST', '/organizations', { organization }).expect<Organization>(201);
}
const ask = (organizationId: string, body: object): Promise<ChangeRequest> =>
  ann.rest('POST', `/organizations/${organizationId}/change-requests`, body).expect<ChangeRequest>(201);
const read = (id: string) => admin.rest('GET', `/organizations/${id}`).expect<Organization>(200);

describe.each(FACES)('a change request over %s', (face) => {
  const call = (person: Person, procedure: string, organizationId: string, input: object = {}) =>
    person.call(face, `organizations.${procedure}`, { organizationId, ...input });

  it('waits for review, and changes the organization once an admin approves it', async () => {
    const before = await create();
    await admin.rest('PATCH', `/admin/organizations/${before.id}`, { address: { city: 'Bonn', postalCode: '1' } }).expect(200);
    const given = {
      name: newName(),
      branchName: '$name',
      addressLine1: 'Main Street 1',
      postalCode: '53111',
      certifiedQualifications: [{ name: 'Halal', status: 'valid', value: '7' }],
    };
    const outcome = await call(ann, 'requestChange', before.id, given);
    const { value } = outcome as { value: ChangeRequest };
    const { id: changeRequestId, createdAt } = value;
    expect(value).toEqual({
      ...given,
      id: changeRequestId,
      organizationId: before.id,
      identityId: ann.id,
      status: 'pending',
      typeId: null,
      addressLine2: null,
      addressLine3: null,
      certificateImage: null,
      certificateImageUrl: null,
      decidedBy: null,
      decidedAt: null,
      createdAt,
      updatedAt: createdAt,
    });
    expect(await read(before.id)).toMatchObject({ name: before.name, auditStatus: 'waiting_for_review' });
    app.clock.advance(1000);
    const decided = await call(admin, 'approveChange', before.id, { changeRequestId });
    expect(decided).toMatchObject({ value: { id: changeRequestId, status: 'approved', decidedBy: admin.id } });
    expect(await read(before.id)).toMatchObject({
      name: given.name,
      branchName: '$name',
      typeId: null,
      description: 'Bread',
      address: { city: 'Bonn', addressLine1: 'Main Street 1', postalCode: '53111' },
      certifiedQualifications: given.certifiedQualifications,
      auditStatus: 'approved',
    });
    for (const procedure of ['approveChange', 'rejectChange'])
      expect(await call(admin, procedure, before.id, { changeRequestId })).toEqual(DECIDED);
    expect(await call(ann, 'listChangeRequests', before.id)).toMatchObject({ value: { data: [(decided as typeof outcome & { value: object }).value] } }); // prettier-ignore
  });

  it('changes nothing if an admin rejects it', async () => {
    const before = await create();
    const { id: changeRequestId } = await ask(before.id, { name: newName() });
    expect(await call(admin, 'rejectChange', before.id, { changeRequestId })).toMatchObject({ value: { status: 'rejected' } });
    expect(await read(before.id)).toMatchObject({ name: before.name, auditStatus: 'rejected' });
    expect(await call(admin, 'approveChange', before.id, { changeRequestId })).toEqual(DECIDED);
  });

  it('requires a name that no other organization of an owner has, also when approved', async () => {
    const [before, second, name] = [await create(), await create(), newName()];
    expect(await call(ann, 'requestChange', before.id, { name: second.name })).toEqual(taken(second.name));
    expect(await call(ann, 'requestChange', before.id, { name: before.name })).toMatchObject({ ok: true });
    const { id: changeRequestId } = await ask(before.id, { name });
    const third = await create(name);
    expect(await call(admin, 'approveChange', before.id, { changeRequestId })).toEqual(taken(name));
    const { data } = ((await call(ann, 'listChangeRequests', before.id)) as { value: { data: ChangeRequest[] } }).value;
    expect(data[0]).toMatchObject({ id: changeRequestId, status: 'pending', decidedBy: null, decidedAt: null });
    expect(await read(before.id)).toMatchObject({ name: before.name });
    expect(await call(admin, 'delete', third.id)).toMatchObject({ ok: true });
    expect(await call(admin, 'approveChange', before.id, { changeRequestId })).toMatchObject({ ok: true });
    expect(await read(before.id)).toMatchObject({ name });
  });

  it('belongs to its organization, which must exist', async () => {
    const [one, two] = [await create(), await create()];
    const { id: changeRequestId } = await ask(one.id, { typeId: 'shop' });
    for (const procedure of ['approveChange', 'rejectChange']) {
      expect(await call(admin, procedure, two.id, { changeRequestId })).toEqual(MISSING);
      expect(await call(admin, procedure, one.id, { changeRequestId: NO_ID })).toEqual(MISSING);
      expect(await call(admin, procedure, NO_ID, { changeRequestId })).toEqual(NO_ORGANIZATION);
    }
    expect(await call(admin, 'requestChange', NO_ID, { typeId: 'shop' })).toEqual(NO_ORGANIZATION);
    expect(await call(admin, 'listChangeRequests', NO_ID)).toEqual(NO_ORGANIZATION);
  });

  it('asks for at least one allowed change, and no other', async () => {
    const { id } = await create();
    expect(await call(ann, 'requestChange', id)).toEqual({
      ...failure(400, 'Validation Error'),
      data: ['request body must NOT have fewer than 1 properties'],
    });
    expect(await call(ann, 'requestChange', id, { name: ' ', auditStatus: 'approved' })).toEqual({
      ...failure(400, 'Validation Error'),
      data: [
        'request body/name must NOT have fewer than 1 characters',
        "request body must NOT have additional properties: 'auditStatus'",
      ],
    });
  });

  it('shows the certificate that was uploaded for it, which is attached once', async () => {
    const { id } = await create();
    const type = 'application/pdf';
    const query = { contentType: type, contentLength: 3 };
    const issued = await call(ann, 'certificateUploadUrl', id, query);
    const { objectId, url } = (issued as { value: { objectId: string; url: string } }).value;
    const certificateImage = { objectId, type };
    const file = await fetch(url, { method: 'PUT', headers: { 'content-type': type }, body: 'abc' });
    expect(file.status).toBe(200);
    // another's upload is none
    expect(await call(admin, 'requestChange', id, { certificateImage })).toEqual(failure(404, 'File not found'));
    const outcome = await call(ann, 'requestChange', id, { certificateImage });
    const { value } = outcome as { value: ChangeRequest };
    expect(value.certificateImage).toMatchObject({ type, url: value.certificateImageUrl });
    expect(JSON.stringify(value)).not.toContain('objectId');
    expect(await (await fetch(value.certificateImageUrl ?? '')).text()).toBe('abc');
    await ask(id, { branchName: 'without' });
    const listed = (await call(ann, 'listChangeRequests', id)) as { value: { data: ChangeRequest[] } };
    expect(listed.value.data.map((one) => one.certificateImage?.id)).toEqual([undefined, value.certificateImage?.id]);
    expect(await call(ann, 'requestChange', id, { certificateImage })).toEqual(failure(409, 'File is already attached'));
  });

  it('is listed like everything else, newest first', async () => {
    const { id } = await create();
    for (let n = 0; n < 4; n++) await ask(id, { branchName: `Branch ${n}` });
    const outcome = await call(ann, 'listChangeRequests', id, { $filter: "status eq 'approved'" });
    expect(outcome).toMatchObject({ value: { data: [] } });
  });
});

it('of 20 concurrent decisions on two servers, one decides a request', async () => {
  const adminElsewhere = await other.signIn(admin.email);
  const { id } = await create();
  const name = newName();
  const request = await ask(id, { name });
  const decisions = await Promise.all(
    Array.from({ length: 20 }, (_, n) => {
      const decision = n % 4 < 2 ? 'approve' : 'reject';
      const path = `/organizations/${id}/change-requests/${request.id}/${decision}`;
      return (n % 2 ? admin : adminElsewhere).rest('POST', path);
    }),
  );
  const winners = decisions.filter(({ status }) => status === 200);
  expect(winners).toHaveLength(1);
  expect(decisions.filter(({ status }) => status === 409)).toHaveLength(19);
  const { status } = (winners[0] as { body: ChangeRequest }).body;
  const organization = await read(id);
  expect(organization.auditStatus).toBe(status);
  expect(organization.name === name).toBe(status === 'approved');
});
