import { PASSWORD, type Person } from '@tandem/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openCrashFixture, type CrashFixture, type CrashFlow } from '../../test/crash-fixture.js';
import { openLaterInstance, type LaterInstance } from '../../test/later-instance.js';
import { organizationModel } from '../organizations/organization.model.js';

/** A server takes a second to start, on a machine that has nothing else to do. */
const PATIENCE = { timeout: 240_000 };
type Request = [method: string, path: string, body?: unknown];
/** Asks whether what was written after the crash still stands. */
type Stands = () => Promise<void>;

/** One kind of units: a request that runs one, and what people do meanwhile. */
interface Kind {
  /** What it is about, made anew: ids by their names. */
  prepare(): Promise<Record<string, string>>;
  request(given: Record<string, string>): Request;
  /** What people see of it, without ids. */
  look(given: Record<string, string>): Promise<unknown>;
  /** Changes it as far as it can be changed, wherever the process died. */
  change(given: Record<string, string>): Promise<Stands>;
}

let system: CrashFixture;
let later: LaterInstance;
let admin: Person;
beforeAll(async () => {
  system = await openCrashFixture('units');
  later = await openLaterInstance(system.home.mongodbUri);
  admin = await system.home.signUpAdmin();
});
beforeEach(async () => {
  admin = await system.home.signIn(admin.email);
});
afterAll(() => Promise.all([system.close(), later.close()]));

const send = (...[method, path, body]: Request) => admin.rest(method, path, body);
const made = async (path: string, body: unknown) => (await send('POST', path, body).expect<{ id: string }>(201)).id;
const rows = async (path: string) => (await send('GET', path).expect<{ data: Record<string, unknown>[] }>(200)).data;
const statusOf = async (path: string) => (await send('GET', path)).status;
const bodyOf = (path: string) => send('GET', path).expect<Record<string, unknown>>(200);
const named = async (path: string, field = 'name') => (await rows(path)).map((row) => String(row[field])).toSorted();

/** Lets it live, and changes it; it lives afterwards, changed. */
async function reviveAndPatch(path: string, patch: Record<string, unknown>): Promise<Stands> {
  await send('POST', `${path}/restore`);
  await send('PATCH', path, patch).expect(200);
  return async () => expect(await bodyOf(path)).toMatchObject(patch);
}
/** Lets it live, and deletes it; it is gone afterwards. */
async function reviveAndDelete(path: string): Promise<Stands> {
  await send('POST', `${path}/restore`);
  await send('DELETE', path).expect(204);
  return async () => expect(await statusOf(path)).toBe(404);
}

const newProduct = (organizationId?: string) => ({ name: 'Lamp', description: '', ...(organizationId && { organizationId }) });
const found = () =>
  made('/organizations', { organization: { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' } });
const aProduct = (organizationId?: string) => made('/products', newProduct(organizationId));
const aVariant = (product: string) => made(`/products/${product}/variants`, { title: 'Red' });
const productWithVariant = async (organization?: string) => {
  const product = await aProduct(organization);
  return { product, variant: await aVariant(product) };
};

async function someoneWithAll() {
  const { id: bob } = await system.home.signUp();
  const [profile, channel] = [
    await made('/profiles', { identityId: bob, name: 'Bob' }),
    await made('/channels', { name: 'Tea', ownerId: admin.id }),
  ];
  await made('/subscriptions', { channelId: channel, subscribedId: bob });
  return { bob, profile, channel };
}
const lookAtSomeone = async ({ bob, profile, channel }: Record<string, string>) => ({
  identity: await statusOf(`/identities/${bob}`),
  profile: await statusOf(`/profiles/${profile}`),
  // with the admin's
  members: (await rows(`/subscriptions?channelId=${channel}`)).length,
});

async function profileThatFollows() {
  const { id: bob } = await system.home.signUp();
  const [profile, other] = [
    await made('/profiles', { identityId: bob, name: 'Bob' }),
    await made('/profiles', { identityId: admin.id, name: 'Ann' }),
  ];
  await send('PUT', `/profiles/${profile}/profile-follows/${other}`).expect(204);
  return { profile, other };
}
const lookAtProfile = async ({ profile, other }: Record<string, string>) => ({
  profile: await statusOf(`/profiles/${profile}`),
  followers: (await rows(`/profiles/${other}/followers`)).length,
});

const aChannel = async () => ({ channel: await made('/channels', { name: 'Tea', ownerId: admin.id }) });
const lookAtChannel = async ({ channel }: Record<string, string>) => ({
  channel: await statusOf(`/channels/${channel}`),
  members: (await rows(`/subscriptions?channelId=${channel}`)).length,
});

const productIn = async () => {
  const organization = await found();
  return { organization, product: await aProduct(organization) };
};
const lookAtProduct = async ({ product }: Record<string, string>) => ({
  product: await statusOf(`/products/${product}`),
  variants: ((await send('GET', `/products/${product}/variants`)) as { body: { data?: unknown[] } }).body.data?.length,
});
const lookAtOrganization = async ({ organization, product }: Record<string, string>) => ({
  organization: await statusOf(`/organizations/${organization}`),
  product: await statusOf(`/products/${product}`),
});

async function invited(email: string) {
  const organization = await found();
  const invitation = await made('/invitations', { email, organizationId: organization, role: 'admin' });
  const { token = '' } = await system.home.mail.next(email);
  return { organization, invitation, token, email };
}
const membersOf = async (organization = '') =>
  (await rows(`/organizations/${organization}/members`)).map(({ identityId }) => String(identityId));
const lookAtInvited = async ({ organization, invitation, email }: Record<string, string>) => ({
  accounts: (await rows(`/identities?$filter=email eq '${email}'`)).map(({ emailVerified }) => emailVerified),
  members: (await membersOf(organization)).length,
  invitation: (await bodyOf(`/invitations/${invitation}`))['status'],
});
/** Removes the new member, where there is one. */
async function removeMember({ organization }: Record<string, string>): Promise<Stands> {
  const member = (await membersOf(organization)).find((id) => id !== admin.id);
  if (member === undefined) return async () => {};
  await send('DELETE', `/organizations/${organization}/members/${member}`).expect(204);
  return async () => expect(await membersOf(organization)).toEqual([admin.id]);
}

const askFor = { branchName: 'asked', typeId: 'asked' };
const requestsOf = (organization = '') => rows(`/organizations/${organization}/change-requests`);
const lookAtRequests = async ({ organization }: Record<string, string>) => {
  const { branchName, typeId, auditStatus } = await bodyOf(`/organizations/${organization}`);
  return { branchName, typeId, auditStatus, requests: (await requestsOf(organization)).map(({ status }) => status) };
};

const kinds: Record<string, Kind> = {
  'insert products': {
    prepare: async () => ({ organization: await found() }),
    request: ({ organization }) => ['POST', '/products/batch', [newProduct(organization), newProduct(organization)]],
    look: ({ organization }) => named(`/products/organizations/${organization}`),
    async change({ organization }) {
      const path = `/products/organizations/${organization}`;
      const [first] = await rows(path);
      if (!first) return async () => expect(await rows(path)).toEqual([]);
      const stands = await reviveAndPatch(`/products/${String(first['id'])}`, { name: 'newer' });
      return async () => {
        await stands();
        expect(await named(path)).toEqual(['Lamp', 'newer']);
      };
    },
  },
  'insert product variants': {
    prepare: async () => ({ product: await aProduct() }),
    request: ({ product }) => ['POST', `/product/${product}/variants/bulk`, [{ title: 'Green' }, { title: 'White' }]],
    look: ({ product }) => named(`/products/${product}/variants`, 'title'),
    async change({ product }) {
      const path = `/products/${product}/variants`;
      const [first] = await rows(path);
      if (!first) return async () => expect(await rows(path)).toEqual([]);
      await send('DELETE', `${path}/${String(first['id'])}`).expect(204);
      return async () => expect(await rows(path)).toHaveLength(1);
    },
  },
  'update products': {
    prepare: async () => ({ one: await aProduct(), two: await aProduct() }),
    request: ({ one, two }) => ['PATCH', '/products/batch', { ids: [one, two], data: { name: 'bulk' } }],
    look: async ({ one, two }) => [(await bodyOf(`/products/${one}`))['name'], (await bodyOf(`/products/${two}`))['name']],
    change: ({ one }) => reviveAndPatch(`/products/${one}`, { name: 'newer' }),
  },
  'update product variants': {
    async prepare() {
      const product = await aProduct();
      return { product, one: await aVariant(product), two: await aVariant(product) };
    },
    request: ({ product, one, two }) => [
      'PATCH',
      `/product/${product}/variants/bulk`,
      { ids: [one, two], data: { sku: 'bulk' } },
    ],
    look: async ({ product }) => (await rows(`/products/${product}/variants`)).map(({ sku }) => sku),
    change: ({ product, one }) => reviveAndPatch(`/products/${product}/variants/${one}`, { sku: 'newer' }),
  },
  'delete products': {
    prepare: () => productWithVariant(),
    request: ({ product }) => ['DELETE', '/products/batch', [product]],
    look: lookAtProduct,
    async change(given) {
      const stands = await reviveAndPatch(`/products/${given['product']}`, { name: 'newer' });
      return async () => {
        await stands();
        expect(await lookAtProduct(given)).toEqual({ product: 200, variants: 1 });
      };
    },
  },
  'delete product variants': {
    prepare: () => productWithVariant(),
    request: ({ product, variant }) => ['POST', `/product/${product}/variants/bulk-delete`, [variant]],
    look: lookAtProduct,
    change: ({ product, variant }) => reviveAndPatch(`/products/${product}/variants/${variant}`, { sku: 'newer' }),
  },
  'delete organizations': {
    prepare: productIn,
    request: ({ organization }) => ['DELETE', `/organizations/${organization}`],
    look: lookAtOrganization,
    async change(given) {
      const stands = await reviveAndPatch(`/organizations/${given['organization']}`, { description: 'newer' });
      return async () => {
        await stands();
        expect(await lookAtOrganization(given)).toEqual({ organization: 200, product: 200 });
      };
    },
  },
  'restore product': {
    async prepare() {
      const given = await productWithVariant();
      await send('DELETE', `/products/${given.product}`).expect(204);
      return given;
    },
    request: ({ product }) => ['POST', `/products/${product}/restore`],
    look: lookAtProduct,
    change: ({ product }) => reviveAndDelete(`/products/${product}`),
  },
  'restore product variant': {
    async prepare() {
      const given = await productWithVariant();
      await send('DELETE', `/products/${given.product}/variants/${given.variant}`).expect(204);
      return given;
    },
    request: ({ product, variant }) => ['POST', `/products/${product}/variants/${variant}/restore`],
    look: lookAtProduct,
    change: ({ product, variant }) => reviveAndDelete(`/products/${product}/variants/${variant}`),
  },
  'restore organization': {
    async prepare() {
      const given = await productIn();
      await send('DELETE', `/organizations/${given.organization}`).expect(204);
      return given;
    },
    request: ({ organization }) => ['POST', `/organizations/${organization}/restore`],
    look: lookAtOrganization,
    change: ({ organization }) => reviveAndDelete(`/organizations/${organization}`),
  },
  'identities.delete': {
    prepare: someoneWithAll,
    request: ({ bob }) => ['DELETE', `/identities/${bob}`],
    look: lookAtSomeone,
    async change(given) {
      const stands = await reviveAndPatch(`/identities/${given['bob']}`, { emailVerified: true });
      return async () => {
        await stands();
        expect(await lookAtSomeone(given)).toEqual({ identity: 200, profile: 200, members: 2 });
      };
    },
  },
  'identities.restore': {
    async prepare() {
      const given = await someoneWithAll();
      await send('DELETE', `/identities/${given.bob}`).expect(204);
      return given;
    },
    request: ({ bob }) => ['POST', `/identities/${bob}/restore`],
    look: lookAtSomeone,
    async change(given) {
      await reviveAndDelete(`/identities/${given['bob']}`);
      return async () => expect(await lookAtSomeone(given)).toEqual({ identity: 404, profile: 404, members: 1 });
    },
  },
  'profiles.delete': {
    prepare: profileThatFollows,
    request: ({ profile }) => ['DELETE', `/profiles/${profile}`],
    look: lookAtProfile,
    async change(given) {
      const stands = await reviveAndPatch(`/profiles/${given['profile']}`, { name: 'newer' });
      return async () => {
        await stands();
        expect(await lookAtProfile(given)).toEqual({ profile: 200, followers: 1 });
      };
    },
  },
  'profiles.restore': {
    async prepare() {
      const given = await profileThatFollows();
      await send('DELETE', `/profiles/${given.profile}`).expect(204);
      return given;
    },
    request: ({ profile }) => ['POST', `/profiles/${profile}/restore`],
    look: lookAtProfile,
    change: ({ profile }) => reviveAndDelete(`/profiles/${profile}`),
  },
  'channels.create': {
    prepare: async () => ({ bob: (await system.home.signUp()).id }),
    request: ({ bob }) => ['POST', '/channels', { name: 'Tea', ownerId: bob }],
    look: async ({ bob }) => [await named(`/channels?ownerId=${bob}`), (await rows(`/subscriptions?subscribedId=${bob}`)).length],
    async change({ bob }) {
      const [channel] = await rows(`/channels?ownerId=${bob}`);
      if (!channel) return async () => expect(await rows(`/channels?ownerId=${bob}`)).toEqual([]);
      const [member] = await rows(`/subscriptions?subscribedId=${bob}`);
      await send('DELETE', `/subscriptions/${String(member?.['id'])}`).expect(204);
      const stands = await reviveAndPatch(`/channels/${String(channel['id'])}`, { name: 'newer' });
      return async () => {
        await stands();
        expect(await rows(`/subscriptions?subscribedId=${bob}`)).toEqual([]);
      };
    },
  },
  'channels.delete': {
    prepare: aChannel,
    request: ({ channel }) => ['DELETE', `/channels/${channel}`],
    look: lookAtChannel,
    async change(given) {
      const stands = await reviveAndPatch(`/channels/${given['channel']}`, { name: 'newer' });
      return async () => {
        await stands();
        expect(await lookAtChannel(given)).toEqual({ channel: 200, members: 1 });
      };
    },
  },
  'channels.restore': {
    async prepare() {
      const given = await aChannel();
      await send('DELETE', `/channels/${given.channel}`).expect(204);
      return given;
    },
    request: ({ channel }) => ['POST', `/channels/${channel}/restore`],
    look: lookAtChannel,
    change: ({ channel }) => reviveAndDelete(`/channels/${channel}`),
  },
  'organizations.request change': {
    prepare: async () => ({ organization: await found() }),
    request: ({ organization }) => ['POST', `/organizations/${organization}/change-requests`, askFor],
    look: lookAtRequests,
    async change(given) {
      const path = `/organizations/${given['organization']}`;
      const [request] = await requestsOf(given['organization']);
      if (!request) return reviveAndPatch(path, { branchName: 'newer' });
      await send('POST', `${path}/change-requests/${String(request['id'])}/approve`).expect(200);
      return async () =>
        expect(await lookAtRequests(given)).toEqual({ ...askFor, auditStatus: 'approved', requests: ['approved'] });
    },
  },
  'organizations.decide change': {
    async prepare() {
      const organization = await found();
      return { organization, request: await made(`/organizations/${organization}/change-requests`, askFor) };
    },
    request: ({ organization, request }) => ['POST', `/organizations/${organization}/change-requests/${request}/approve`],
    look: lookAtRequests,
    change: ({ organization }) => reviveAndPatch(`/organizations/${organization}`, { branchName: 'newer' }),
  },
  'invitations.review': {
    async prepare() {
      const organization = await found();
      const inviter = await system.home.signUp({ isVerified: true });
      const members = [{ identityId: inviter.id, role: 'admin' }];
      await send('PATCH', `/organizations/${organization}/members`, members).expect(204);
      const body = { email: `${crypto.randomUUID()}@example.org`, organizationId: organization, role: 'member' };
      const { id: invitation } = await inviter.rest('POST', '/invitations', body).expect<{ id: string }>(201);
      return { organization, invitation, inviter: inviter.id };
    },
    request: ({ organization, inviter }) => ['DELETE', `/organizations/${organization}/members/${inviter}`],
    look: async ({ organization, invitation }) => ({
      members: (await membersOf(organization)).length,
      invitation: (await bodyOf(`/invitations/${invitation}`))['status'],
    }),
    async change({ organization, inviter }) {
      const members = [{ identityId: inviter, role: 'owner' }];
      await send('PATCH', `/organizations/${organization}/members`, members).expect(204);
      return async () => expect(await membersOf(organization)).toHaveLength(2);
    },
  },
  'register by invitation': {
    prepare: () => invited(`${crypto.randomUUID()}@example.org`),
    request: ({ token }) => ['POST', '/auth/register', { token, password: PASSWORD }],
    look: lookAtInvited,
    change: removeMember,
  },
  'accept invitation': {
    async prepare() {
      const { email, accessToken } = await system.home.signUp();
      return { ...(await invited(email)), accessToken };
    },
    request: ({ token }) => ['POST', '/invitations/accept', { token }],
    async look(given) {
      // an address that the token has proved stays so
      const { accounts, ...seen } = await lookAtInvited(given);
      return { ...seen, accounts: accounts.length };
    },
    change: removeMember,
  },
};

it('every unit that a sweep knows is here', () => {
  expect(Object.keys(kinds).toSorted()).toEqual(later.unitNames().toSorted());
});

interface Somebody {
  given: Record<string, string>;
  before: unknown;
}

describe.each(Object.entries(kinds))('%s, whose process is killed between any two of its writes,', PATIENCE, (name, kind) => {
  it('is whole or not at all after the next sweep, and what was written meanwhile stands', async () => {
    const flow: Pick<CrashFlow<Somebody>, 'prepare' | 'request'> = {
      async prepare() {
        const given = await kind.prepare();
        return { given, before: await kind.look(given) };
      },
      request(server, { given }) {
        const [method, path, body] = kind.request(given);
        return server.rest(method, path, body, { accessToken: given['accessToken'] ?? admin.accessToken });
      },
    };
    // after each write two: one is left alone until the sweep, the other is changed before it
    const left = (await system.leaveAfterEachWrite(flow, 2)).map((one, at) => ({ ...one, isChanged: at % 2 === 1 }));
    expect(left.some(({ passed }) => passed.at(-1) === 'units.findAndModify')).toBe(true);
    const changed = await Promise.all(
      left.filter(({ isChanged }) => isChanged).map(async (one) => ({ ...one, stands: await kind.change(one.somebody.given) })),
    );
    await Promise.all([later.sweep(), later.sweep()]);
    const alone = await Promise.all(
      left.filter(({ isChanged }) => !isChanged).map(async (one) => ({ ...one, seen: await kind.look(one.somebody.given) })),
    );
    const done = alone.at(-1)?.seen;
    for (const { somebody, passed, seen } of alone) expect([somebody.before, done], whereOf(passed)).toContainEqual(seen);
    for (const { passed, stands } of changed) await expect(stands(), whereOf(passed)).resolves.toBeUndefined();
    const { db } = system.home.storage.model(organizationModel);
    expect(await db.collection('units').countDocuments()).toBe(0);
    expect(await db.collection('organizations').countDocuments({ 'notes.0': { $exists: true } })).toBe(0);
  });

  const whereOf = (passed: readonly string[]) => `${name} after ${passed.join(', ') || 'no write'}`;
});
