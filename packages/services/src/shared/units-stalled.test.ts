import { fixture, isCommand, startStoreProxy, startTestServer, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';

const app = fixture(startTestServer);
/** The way to the store of another instance, which stalls on it. */
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
const stalling = fixture(() => startTestServer({ mongodbUri: proxy.uri, clock: app.clock }));
const admin = fixture(() => app.signUpAdmin());
const elsewhere = fixture(() => stalling.signIn(admin.email));

const made = async (path: string, body: unknown) => (await admin.rest('POST', path, body).expect<{ id: string }>(201)).id;
const rows = async (path: string) => (await admin.rest('GET', path).expect<{ data: Record<string, unknown>[] }>(200)).data;
const found = () =>
  made('/organizations', { organization: { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' } });

/** Longer than a unit is its process's own, in milliseconds. */
const TAKEN_OVER_AFTER_MS = 61_000;

/**
 * Holds the request's process up before a command, `collection.command`, until its unit has been swept and `meanwhile` is done.
 * @param begun the number of steps that are begun by then
 */
async function stallBefore(
  command: string,
  request: () => PromiseLike<unknown>,
  meanwhile = async () => {},
  begun = 0,
): Promise<void> {
  let steps = 0;
  const { reached, release } = proxy.hold((one) => {
    const name = `${one.collection}.${one.command}`;
    if (steps >= begun && name === command) return true;
    if (name === 'units.findAndModify') steps += 1;
    return false;
  });
  const answering = Promise.resolve(request());
  await reached;
  app.clock.advance(TAKEN_OVER_AFTER_MS);
  await app.storage.sweep();
  await meanwhile();
  release();
  await answering;
}

it('a bulk create that stalls before it stores anything is 503, and nothing is stored', async () => {
  const product = await made('/products', { name: 'Lamp', description: '' });
  const create = () =>
    elsewhere.rest('POST', `/product/${product}/variants/bulk`, [{ title: 'Red' }, { title: 'Blue' }]).expect(503);
  await stallBefore('units.aggregate', create);
  expect(await rows(`/products/${product}/variants`)).toEqual([]);
});

it('a bulk create that stalls before its end is 503, and stored whole', async () => {
  const product = await made('/products', { name: 'Lamp', description: '' });
  const create = () =>
    elsewhere.rest('POST', `/product/${product}/variants/bulk`, [{ title: 'Red' }, { title: 'Blue' }]).expect(503);
  await stallBefore('units.delete', create);
  expect(await rows(`/products/${product}/variants`)).toHaveLength(2);
});

it('a bulk change that stalls before its write changes nothing that was changed since, nor anything else', async () => {
  const product = await made('/products', { name: 'Lamp', description: '' });
  const other = await made('/products', { name: 'Lamp', description: '' });
  await stallBefore(
    'units.findAndModify',
    () => elsewhere.rest('PATCH', '/products/batch', { ids: [product, other], data: { name: 'bulk' } }).expect(503),
    async () => void (await admin.rest('PATCH', `/products/${product}`, { name: 'newer' }).expect(200)),
  );
  expect(await admin.rest('GET', `/products/${product}`).expect(200)).toMatchObject({ name: 'newer' });
  expect(await admin.rest('GET', `/products/${other}`).expect(200)).toMatchObject({ name: 'Lamp' });
});

it('a product whose move is taken back while its new organization is deleted is restored with that organization', async () => {
  const [home, next] = [await found(), await found()];
  const product = await made('/products', { name: 'Lamp', description: '', organizationId: home });
  const other = await made('/products', { name: 'Lamp', description: '', organizationId: home });
  const moving = proxy.hold(isCommand('products.update'));
  const data = { organizationId: next };
  const answering = elsewhere.rest('PATCH', '/products/batch', { ids: [product, other], data }).expect(404);
  await moving.reached;
  await admin.rest('PATCH', `/products/${other}`, { name: 'newer' }).expect(200);
  const takingBack = proxy.hold(isCommand('products.update'));
  moving.release();
  await takingBack.reached;
  await admin.rest('DELETE', `/organizations/${next}`).expect(204);
  takingBack.release();
  await answering;
  await admin.rest('POST', `/organizations/${next}/restore`).expect(200);
  expect(await admin.rest('GET', `/products/${product}`).expect(200)).toMatchObject({ organizationId: home });
});

it('an approval that stalls overwrites no later change of the branch, and its request is to be decided again', async () => {
  const organization = await found();
  const path = `/organizations/${organization}`;
  const request = await made(`${path}/change-requests`, { branchName: 'asked', typeId: 'asked' });
  await stallBefore(
    'organizationChangeRequests.find',
    () => elsewhere.rest('POST', `${path}/change-requests/${request}/approve`).expect(503),
    async () => void (await admin.rest('PATCH', path, { branchName: 'newer' }).expect(200)),
  );
  expect(await admin.rest('GET', path).expect(200)).toMatchObject({ branchName: 'newer', typeId: null });
  expect(await rows(`${path}/change-requests`)).toMatchObject([{ status: 'pending' }]);
});

it('who was removed while the process of the acceptance stalled is no member when it goes on', async () => {
  const organization = await found();
  const ann = await stalling.signUp();
  await made('/invitations', { email: ann.email, organizationId: organization, role: 'admin' });
  const { token } = await app.mail.next(ann.email);
  const members = `/organizations/${organization}/members`;
  await stallBefore(
    'identities.find',
    () => ann.rest('POST', '/invitations/accept', { token }).expect(503),
    async () => void (await admin.rest('DELETE', `${members}/${ann.id}`).expect(204)),
    3,
  );
  expect((await rows(members)).map(({ identityId }) => identityId)).toEqual([admin.id]);
});

/** What somebody may lose the right to invite by. */
const LOSSES: [string, (organization: string, ann: Person) => [method: string, path: string, body?: unknown]][] = [
  ['removed', (organization, { id }) => ['DELETE', `/organizations/${organization}/members/${id}`]],
  ['demoted', (organization, { id: identityId }) => ['PATCH', `/organizations/${organization}/members`, [{ identityId, role: 'member' }]]], // prettier-ignore
  ['made a guest', (_, { id }) => ['PATCH', `/identities/${id}`, { typeId: 'guest' }]],
  ['made a guest of another address', (_, { id, email }) => ['PATCH', `/identities/${id}`, { typeId: 'guest', email: `new-${email}` }]], // prettier-ignore
  ['locked', (_, { id }) => ['POST', `/identities/${id}/lock`]],
  ['deactivated', (_, { id: identityId }) => ['POST', '/auth/deactivate', { identityId }]],
  ['deleted', (_, { id }) => ['DELETE', `/identities/${id}`]],
];

it.each(LOSSES)('who is not %s before a sweep has looked through the invitations is not afterwards either', async (_, lose) => {
  const organization = await found();
  const ann = await app.signUp({ isVerified: true });
  await admin.rest('PATCH', `/organizations/${organization}/members`, [{ identityId: ann.id, role: 'admin' }]).expect(204);
  const body = { email: `${crypto.randomUUID()}@example.org`, organizationId: organization };
  const { id } = await ann.rest('POST', '/invitations', body).expect<{ id: string }>(201);
  const look = async () => [
    await admin.rest('GET', `/invitations/${id}`).expect(200),
    await rows(`/organizations/${organization}/members`),
    await admin.rest('GET', `/identities/${ann.id}`).expect(200),
  ];
  const before = await look();
  const { reached, release } = proxy.hold(isCommand('units.findAndModify'), 'after');
  const losing = elsewhere.rest(...lose(organization, ann)).expect(503);
  await reached;
  app.clock.advance(TAKEN_OVER_AFTER_MS);
  await app.storage.sweep();
  release();
  await losing;
  expect(await look()).toEqual(before);
});

it('what a review of invitations fails at is tried again at once', async () => {
  const organization = await found();
  const ann = await app.signUp({ isVerified: true });
  const members = `/organizations/${organization}/members`;
  await admin.rest('PATCH', members, [{ identityId: ann.id, role: 'admin' }]).expect(204);
  const body = { email: `${crypto.randomUUID()}@example.org`, organizationId: organization };
  const { id } = await ann.rest('POST', '/invitations', body).expect<{ id: string }>(201);
  // the first write is about acceptances by the person, before the removal
  void proxy.seen(isCommand('invitations.update'));
  const failed = proxy.answer(isCommand('invitations.update'), { ok: 0, code: 2, codeName: 'BadValue', errmsg: 'refused' });
  await elsewhere.rest('DELETE', `${members}/${ann.id}`);
  await failed;
  expect(await admin.rest('GET', `/invitations/${id}`).expect(200)).toMatchObject({ status: 'withdrawn' });
});
