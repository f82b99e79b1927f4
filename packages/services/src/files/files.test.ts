import { FACES, createTestClock, fixture, makeFolder, startS3Server, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '../organizations/organizations.schemas.js';
import { fileModel } from './file.model.js';
import type { GivenFile, UploadAddress } from './files.schemas.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const TYPE = 'image/png';
const picture = () => Buffer.from(`a picture ${crypto.randomUUID()}`);
const failure = (status: number, message: string) => ({ ok: false, status, message });

describe.each(['disk', 's3'] as const)('files on %s', (kind) => {
  const clock = createTestClock();
  const folder = fixture(makeFolder);
  const s3 = fixture(() => startS3Server(clock.now));
  /** Two instances of one system. */
  const start = () => {
    const files = { url: kind === 'disk' ? 'disk:' : s3.url, pollMs: 3_600_000 };
    return startTestServer({ clock, dataDir: folder.path, files });
  };
  const app = fixture(start);
  const other = fixture(start);
  let admin: Person;
  let ann: Person;
  beforeAll(async () => {
    [admin, ann] = [await app.signUpAdmin(), await app.signUp()];
  });
  const organization = fixture(() => create(ann));

  const bakery = (logo?: GivenFile) => ({
    name: `Bakery ${crypto.randomUUID()}`,
    description: 'Bread',
    contact_email: 'bread@example.org',
    ...(logo && { logo }),
  });
  const create = (person: Person, logo?: GivenFile) =>
    person.rest('POST', '/organizations', { organization: bakery(logo) }).expect<Organization>(201);

  /** An address for a logo. Sign in again for it: people's tokens do not live as long as these tests' clock runs. */
  async function issue(person: Person, size: number, { type = TYPE, id = organization.id } = {}): Promise<UploadAddress> {
    const query = new URLSearchParams({ contentType: type, contentLength: String(size) }).toString();
    return person.rest('GET', `/organizations/${id}/logo-upload-url?${query}`).expect<UploadAddress>(200);
  }
  const put = (url: string, body: Buffer, type = TYPE) =>
    fetch(url, { method: 'PUT', headers: { 'content-type': type }, body: new Uint8Array(body) });
  async function upload(person: Person, body = picture(), options: { type?: string; id?: string } = {}): Promise<GivenFile> {
    const { type = TYPE } = options;
    const { objectId, url } = await issue(person, body.length, options);
    const answer = await put(url, body, type);
    expect(answer.status).toBe(200);
    return { objectId, type };
  }
  const setLogo = (person: Person, id: string, logo: GivenFile | null) =>
    person.rest('PATCH', `/admin/organizations/${id}`, { logo });
  const isStored = async (objectId: string) => {
    const record = await app.storage.model(fileModel).findOne({ objectId }).lean();
    return record !== null;
  };
  /** The worker's whole turn, when everything that is due by then is due. */
  async function later(milliseconds: number): Promise<void> {
    clock.advance(milliseconds);
    await app.tandem.services.files.work();
    [admin, ann] = [await app.signIn(admin.email), await app.signIn(ann.email)];
  }

  it.each(FACES)('are uploaded by a signed address, attached, and downloaded by another, over %s', async (face) => {
    const body = picture();
    const outcome = await ann.call(face, 'organizations.logoUploadUrl', {
      organizationId: organization.id,
      contentType: TYPE,
      contentLength: body.length,
    });
    const { value: address } = outcome as { value: UploadAddress };
    expect(address).toEqual({ objectId: expect.any(String) as string, url: expect.any(String) as string });
    expect((await put(address.url, body)).status).toBe(200);
    const given = { objectId: address.objectId, type: TYPE };
    const created = await ann.call(face, 'organizations.create', { organization: bakery(given) });
    const { logo } = (created as { value: Organization }).value;
    expect(logo).toEqual({
      id: expect.any(String) as string,
      type: TYPE,
      url: expect.any(String) as string,
      createdAt: expect.any(String) as string,
      updatedAt: expect.any(String) as string,
    });
    expect(logo?.id).not.toBe(address.objectId);
    const downloaded = await fetch(logo?.url ?? '');
    expect(downloaded.headers.get('content-type')).toBe(TYPE);
    expect(downloaded.headers.get('content-disposition')).toBe('inline');
    expect(Buffer.from(await downloaded.arrayBuffer())).toEqual(body);
    // another instance has it too
    const { id } = (created as { value: Organization }).value;
    const seen = await other.rest('GET', `/organizations/${id}`, undefined, ann.credentials).expect<Organization>(200);
    expect(seen.logo).toMatchObject({ id: logo?.id, type: TYPE });
    expect((await fetch(seen.logo?.url ?? '')).status).toBe(200);
  });

  it('accept no other type and size than the address was issued for', async () => {
    const body = picture();
    const { url, objectId } = await issue(ann, body.length);
    for (const [content, type] of [
      [body, 'image/jpeg'],
      [Buffer.concat([body, body]), TYPE],
      [body.subarray(1), TYPE],
    ] as const)
      expect((await put(url, content, type)).status).toBeGreaterThanOrEqual(400);
    expect(await setLogo(admin, organization.id, { objectId, type: TYPE })).toMatchObject({ status: 404 });
    expect(await ann.call('trpc', 'organizations.create', { organization: bakery({ objectId, type: TYPE }) })).toEqual(
      failure(400, 'File has not been uploaded'),
    );
  });

  it('are attached only for their purpose, by their uploader, and once', async () => {
    const given = await upload(ann);
    const tryIt = (person: Person, logo: GivenFile) =>
      person.call('trpc', 'organizations.create', { organization: bakery(logo) });
    expect(await tryIt(await app.signUp(), given)).toEqual(failure(404, 'File not found'));
    expect(await tryIt(ann, { ...given, type: 'image/gif' })).toEqual(
      failure(400, 'File is not of the type that it was uploaded as'),
    );
    const query = { organizationId: organization.id, contentType: TYPE, contentLength: 5 };
    const certificate = (await ann.call('trpc', 'organizations.certificateUploadUrl', query)) as { value: UploadAddress };
    expect((await put(certificate.value.url, Buffer.from('12345'))).status).toBe(200);
    expect(await tryIt(ann, { objectId: certificate.value.objectId, type: TYPE })).toEqual(failure(404, 'File not found'));
    expect(await tryIt(ann, given)).toMatchObject({ ok: true });
    expect(await tryIt(ann, given)).toEqual(failure(409, 'File is already attached'));
  });

  it('are attached by one of twenty concurrent calls on two instances', async () => {
    const logo = await upload(ann);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 === 0 ? app : other).call('trpc', 'organizations.create', { organization: bakery(logo) }, ann.credentials),
      ),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array(19).fill(failure(409, 'File is already attached')));
  });

  it('leave one of twenty that replace each other concurrently', async () => {
    const { id } = await create(ann);
    const given = await Promise.all(Array.from({ length: 20 }, () => upload(admin)));
    const changed = await Promise.all(given.map((logo) => setLogo(admin, id, logo)));
    expect(changed.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const attached = { purpose: 'organization-logo', resourceId: id, state: 'attached' } as const;
    expect(await app.storage.model(fileModel).countDocuments(attached)).toBe(1);
    expect((await admin.rest('GET', `/organizations/${id}`).expect<Organization>(200)).logo).not.toBeNull();
  });

  it('stay unchanged if the rest of a change is refused', async () => {
    const [first, second] = [await create(ann, await upload(ann)), await create(ann)];
    const logo = await upload(admin);
    const refused = await admin.rest('PATCH', `/admin/organizations/${first.id}`, { logo, name: second.name });
    expect(refused.status).toBe(400);
    const { logo: shown } = await ann.rest('GET', `/organizations/${first.id}`).expect<Organization>(200);
    expect(shown?.id).toBe(first.logo?.id);
    await setLogo(admin, first.id, logo).expect(200);
    // the same once more changes nothing
    await setLogo(admin, first.id, logo).expect(200);
  });

  it('leave the storage after they were replaced or cleared, and not before their upload address has expired', async () => {
    const [first, second] = [await upload(admin), await upload(admin)];
    const { id } = await create(ann);
    await setLogo(admin, id, first).expect(200);
    await setLogo(admin, id, second).expect(200);
    await app.tandem.services.files.work();
    expect([await isStored(first.objectId), await isStored(second.objectId)]).toEqual([true, true]);
    await later(21 * MINUTE_MS);
    expect([await isStored(first.objectId), await isStored(second.objectId)]).toEqual([false, true]);
    expect((await setLogo(admin, id, null).expect<Organization>(200)).logo).toBeNull();
    await later(0);
    expect(await isStored(second.objectId)).toBe(false);
    expect(s3.objects.has(`uploads/${second.objectId}`)).toBe(false);
  });

  it('that were never attached are removed after a day', async () => {
    const [unused, used] = [await upload(ann), await upload(ann)];
    const { logo } = await create(ann, used);
    await later(DAY_MS + 1000);
    expect([await isStored(unused.objectId), await isStored(used.objectId)]).toEqual([false, true]);
    expect(await ann.call('trpc', 'organizations.create', { organization: bakery(unused) })).toEqual(
      failure(404, 'File not found'),
    );
    expect(logo).not.toBeNull();
  });

  it('have addresses that expire after 15 minutes', async () => {
    const body = picture();
    const { url } = await issue(ann, body.length);
    const { logo } = await create(ann, await upload(ann));
    clock.advance(15 * MINUTE_MS + 1000);
    expect((await put(url, body)).status).toBe(403);
    expect((await fetch(logo?.url ?? '')).status).toBe(403);
    await later(0);
  });

  it('are uploaded by the organization’s owner or an admin, with an allowed type and size', async () => {
    const ask = (person: Person, contentType: string, contentLength: number, organizationId = organization.id) =>
      person.call('trpc', 'organizations.logoUploadUrl', { organizationId, contentType, contentLength });
    const problems = (...data: string[]) => ({ ok: false, status: 400, message: 'Validation Error', data });
    expect(await ask(ann, 'text/html', 0)).toMatchObject({ status: 400, message: 'Validation Error' });
    expect(await ask(ann, TYPE, 10_000_001)).toEqual(problems("query parameter 'contentLength' must be <= 10000000"));
    expect(await ask(admin, TYPE, 10_000_000)).toMatchObject({ ok: true });
    expect(await ask(await app.signUp(), TYPE, 1)).toMatchObject({ status: 403 });
    expect(await ask(admin, TYPE, 1, crypto.randomUUID())).toEqual(failure(404, 'Organization not found'));
  });
});

it('that the storage fails to remove are retried with growing delays, and fail no route', async () => {
  const clock = createTestClock();
  await using s3 = await startS3Server(clock.now);
  await using app = await startTestServer({ clock, files: { url: s3.url, pollMs: 3_600_000 } });
  const { attachments } = app.tandem.services.files;
  const notes = attachments({ purpose: 'note' });
  const [me, note] = [crypto.randomUUID(), crypto.randomUUID()];
  const { objectId, url } = await notes.issue({ contentType: 'text/plain', contentLength: 2 }, me);
  expect((await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'hi' })).status).toBe(200);
  const { id } = await notes.attach(note, { objectId, type: 'text/plain' }, me);
  expect([await notes.remove(note, id), await notes.remove(note, id)]).toEqual([true, false]);
  expect(await notes.of([note])).toEqual(new Map());
  s3.fail(true);
  clock.advance(21 * MINUTE_MS);
  await app.tandem.services.files.work();
  expect(app.logs()).toContain('a file was not removed from its storage; it will be retried');
  s3.fail(false);
  await app.tandem.services.files.work();
  // what was uploaded, and what was attached
  expect(s3.objects.size).toBe(2);
  clock.advance(10_000);
  await app.tandem.services.files.work();
  expect(s3.objects.size).toBe(0);
});

it('are limited per record, exactly so if twenty are attached at once', async () => {
  const clock = createTestClock();
  await using s3 = await startS3Server(clock.now);
  await using app = await startTestServer({ clock, files: { url: s3.url, pollMs: 3_600_000 } });
  const pictures = app.tandem.services.files.attachments({ purpose: 'picture', max: 3 });
  const [me, product] = [crypto.randomUUID(), crypto.randomUUID()];
  const given = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { objectId, url } = await pictures.issue({ contentType: TYPE, contentLength: 1 }, me);
      await fetch(url, { method: 'PUT', headers: { 'content-type': TYPE }, body: 'x' });
      return { objectId, type: TYPE };
    }),
  );
  const outcomes = await Promise.allSettled(given.map((file) => pictures.attach(product, file, me)));
  const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []));
  expect(new Set(refusals.map(({ message }) => message))).toEqual(new Set(['There must NOT be more than 3 files']));
  expect(refusals).toHaveLength(17);
  const [first, ...others] = (await pictures.of([product])).get(product) ?? [];
  expect(others).toHaveLength(2);
  // a file that is removed makes room for another
  await pictures.remove(product, first?.id ?? '');
  const again = given[outcomes.findIndex(({ status }) => status === 'rejected')] as GivenFile;
  expect(await pictures.attach(product, again, me)).toMatchObject({ type: TYPE });
  expect((await pictures.of([product])).get(product)).toHaveLength(3);
});
