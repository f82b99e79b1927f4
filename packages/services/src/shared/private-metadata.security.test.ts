import { FACES, fixture, startTestServer, type Face, type Outcome, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { valueOf } from '../../test/chat-world.js';

const SECRET = 'seeded-secret';
/** What is given at creation. */
const GIVEN = 'given-secret';
const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

type Input = Record<string, unknown>;
type Shown = { id: string; privateMetadata?: object };
type Ask = (face: Face, procedure: string, input?: Input) => Promise<Outcome>;

async function made(person: Person, procedure: string, input: Input): Promise<Shown> {
  const outcome = await person.call('trpc', procedure, input);
  expect(outcome, procedure).toMatchObject({ ok: true });
  return (outcome as { value: Shown }).value;
}

/** An identity, its organization and its order, each with a secret of admins. */
const world = fixture(async () => {
  const [ann, bob, cid, dan, eve] = await Promise.all([1, 2, 3, 4, 5].map(() => app.signUp()));
  if (!ann || !bob || !cid || !dan || !eve) throw new Error('nobody signed up');
  await made(admin, 'identities.patch', { identityId: eve.id, typeId: 'guest' });
  const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
  const { id: organizationId } = await made(ann, 'organizations.create', { organization });
  const members = [
    { identityId: bob.id, role: 'admin' },
    { identityId: cid.id, role: 'member' },
  ];
  await made(ann, 'organizations.upsertMembers', { organizationId, members });
  const part = { organization: { ...organization, name: crypto.randomUUID() }, parentId: organizationId };
  const { id: partId } = await made(ann, 'organizations.create', part);
  const { id: productId } = await made(admin, 'products.create', { name: 'Tea', description: '', organizationId });
  const lines = { currency: 'USD', items: [{ productId, quantity: 1, price: 1 }] };
  const { id: orderId } = await made(ann, 'orders.create', { identityId: ann.id, organizationId, ...lines });
  const privateMetadata = { note: SECRET };
  for (const [procedure, id] of [
    ['identities.patch', { identityId: ann.id }],
    ['organizations.patchAsAdmin', { organizationId }],
    ['organizations.patchAsAdmin', { organizationId: partId }],
    ['orders.patch', { orderId }],
  ] as const)
    await made(admin, procedure, { ...id, privateMetadata });
  return { ann, bob, cid, dan, eve, organizationId, partId, orderId, productId };
});

/** Reads of the records, by themselves, in lists and as related records. */
function reads(): [string, Input][] {
  const { ann, organizationId, partId, orderId } = world;
  return [
    ['identities.get', { identityId: ann.id }],
    ['identities.list', {}],
    ['organizations.get', { organizationId }],
    ['organizations.list', {}],
    ['organizations.listDescendants', { organizationId }],
    ['organizations.listOfIdentity', { identityId: ann.id }],
    ['organizations.listOfIdentity', { identityId: ann.id, includeInherited: true }],
    ['orders.get', { orderId }],
    ['orders.list', { identityId: ann.id }],
    ['orders.listOfOrganization', { organizationId }],
    ['orders.list', { identityId: ann.id, $expand: 'organization,buyer' }],
    ['organizations.listDescendants', { organizationId, $expand: 'parent' }],
    ['products.listOfOrganization', { organizationId, $expand: 'organization' }],
    ['organizations.get', { organizationId: partId }],
    ['auth.identityEvents', { identityId: ann.id }],
    ['organizations.listMembers', { organizationId, $expand: 'person' }],
  ];
}

/** The same question about a field that there is, and one that there is not. */
const QUESTIONS = (field: string): Input[] => [
  { $filter: `${field}.note eq '${SECRET}'` },
  { $filter: `${field}.note ne null or createdAt ge 2020-01-01` },
  { $filter: `contains(${field}.note, 'seed')` },
  { $filter: `${field}.note eq '${SECRET}' and nothing eq 1`, limit: 0 },
  { $orderby: `${field}.note` },
  { $select: field },
  { $select: `id,${field}` },
  { $expand: field },
  { $apply: `filter(${field}.note eq '${SECRET}')` },
  { $apply: `groupby((${field}.note), aggregate($count as n))` },
  { $apply: 'groupby((createdAt), top(5))' },
  { $top: 5 },
  {},
];

const callers = (): [string, Ask][] => {
  const of =
    (person: Person): Ask =>
    (face, procedure, input) =>
      person.call(face, procedure, input);
  const { ann, bob, cid, dan, eve } = world;
  return [
    ['nobody', (face, procedure, input) => app.call(face, procedure, input)],
    ['the person, who owns and buys', of(ann)],
    ['an admin of the organization', of(bob)],
    ['a member', of(cid)],
    ['a stranger', of(dan)],
    ['a guest', of(eve)],
  ];
};

describe.each(FACES)('over %s, private metadata', (face) => {
  it('is shown to admins, in reads, lists, relations and selections, and found by them', async () => {
    const privateMetadata = { note: SECRET };
    const { orderId, organizationId, ann } = world;
    const answers = new Map<string, number>();
    for (const [procedure, input] of reads()) {
      const outcome = await admin.call(face, procedure, input);
      expect(outcome).toMatchObject({ ok: true });
      answers.set(procedure, JSON.stringify(outcome).split(SECRET).length - 1 + (answers.get(procedure) ?? 0));
    }
    for (const one of [
      'identities.get',
      'identities.list',
      'organizations.get',
      'organizations.list',
      'orders.get',
      'orders.list',
    ])
      expect(answers.get(one), one).toBeGreaterThan(0);
    expect(answers.get('products.listOfOrganization')).toBe(1);
    expect(JSON.stringify(await admin.call(face, 'orders.list', { $top: 5 }))).toContain(SECRET);
    const wrong = { $filter: "privateMetadata.note eq 'x' and fabricatedField eq 1" };
    expect(JSON.stringify(await admin.call(face, 'orders.list', wrong))).toContain("unknown property 'fabricatedField'");
    const $filter = `privateMetadata.note eq '${SECRET}'`;
    for (const [procedure, id, input] of [
      ['identities.list', ann.id, {}],
      ['orders.list', orderId, {}],
      ['orders.listOfOrganization', orderId, { organizationId }],
    ] as const) {
      const found = await admin.call(face, procedure, { ...input, $filter, $select: 'privateMetadata' });
      expect(found, procedure).toMatchObject({ ok: true, value: { data: [{ id, privateMetadata }] } });
    }
    expect(await admin.call(face, 'orders.get', { orderId, $select: 'privateMetadata' })).toEqual({
      ok: true,
      value: { id: orderId, privateMetadata },
    });
    expect(await admin.call(face, 'orders.list', { $orderby: 'privateMetadata.note' })).toMatchObject({ status: 400 });
  });

  it('is merged by changes of admins', async () => {
    const { orderId, ann, partId } = world;
    for (const [procedure, id] of [
      ['identities.patch', { identityId: ann.id }],
      ['organizations.patchAsAdmin', { organizationId: partId }],
      ['orders.patch', { orderId }],
    ] as const) {
      const patch = (privateMetadata: object) => admin.call(face, procedure, { ...id, privateMetadata });
      await Promise.all([patch({ a: 1 }), patch({ b: 2 })]);
      expect(await patch({ a: null, c: true })).toMatchObject({
        value: { privateMetadata: { note: SECRET, b: 2, c: true } },
      });
      expect(await patch({ b: null, c: null })).toMatchObject({ ok: true });
      const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, n]));
      const problem = 'request body/privateMetadata must NOT have more than 50 keys';
      expect(await patch(many)).toMatchObject({ status: 400, data: [problem] });
    }
  });

  it('is given at creation by admins alone, and shown to them by it', async () => {
    const { ann, organizationId, productId } = world;
    const privateMetadata = { note: GIVEN };
    const organization = () => ({ name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' });
    const order = { identityId: ann.id, organizationId, currency: 'USD', items: [{ productId, quantity: 1, price: 1 }] };
    const unknown = (of: string) => [`request body${of} must NOT have additional properties: 'privateMetadata'`];
    const given = { organization: { ...organization(), privateMetadata }, ownerId: ann.id };
    const made = await admin.call(face, 'organizations.create', given);
    expect(made).toMatchObject({ ok: true, value: { privateMetadata } });
    const { id } = (made as { value: Shown }).value;
    expect(JSON.stringify(await ann.call(face, 'organizations.get', { organizationId: id }))).not.toMatch(GIVEN);
    expect(await admin.call(face, 'organizations.get', { organizationId: id })).toMatchObject({ value: { privateMetadata } });
    const others = { organization: { ...organization(), privateMetadata } };
    expect(await ann.call(face, 'organizations.create', others)).toMatchObject({ status: 400, data: unknown('/organization') });
    expect(await ann.call(face, 'orders.create', { ...order, privateMetadata })).toMatchObject({
      status: 400,
      data: unknown(''),
    });
    expect(await admin.call(face, 'orders.create', { ...order, privateMetadata: { note: null } })).toMatchObject({ status: 400 });
    const ordered = await admin.call(face, 'orders.create', { ...order, privateMetadata });
    expect(ordered).toMatchObject({ ok: true, value: { privateMetadata } });
    const { id: orderId } = (ordered as { value: Shown }).value;
    expect(JSON.stringify(await ann.call(face, 'orders.get', { orderId }))).not.toMatch(GIVEN);
    expect(await admin.call(face, 'orders.get', { orderId })).toMatchObject({ value: { privateMetadata } });
  });

  it('is in no answer to others, whatever they ask, and no different from a field that there is not', async () => {
    let answered = 0;
    const told: string[][] = [];
    const differences: [string, string, string, string][] = [];
    for (const [who, ask] of callers()) {
      for (const [procedure, input] of reads()) {
        const isList = !procedure.endsWith('.get');
        const others = QUESTIONS('fabricatedField');
        const isAsked = (question: Input) => isList || Object.keys(question).every((parameter) => parameter === '$select');
        const compare = async (question: Input, at: number) => {
          if (!isAsked(question)) return;
          const outcome = await ask(face, procedure, { ...input, ...question });
          answered += outcome.ok ? 1 : 0;
          const text = JSON.stringify(outcome);
          if (outcome.ok && /privateMetadata|seeded-secret/.test(text)) told.push([who, procedure, text]);
          const other = await ask(face, procedure, { ...input, ...others[at] });
          const places = (one: string) =>
            one.replaceAll('privateMetadata', 'fabricatedField').replaceAll(/offset \d+/g, 'offset');
          if (!outcome.ok) differences.push([who, procedure, places(text), places(JSON.stringify(other))]);
        };
        await Promise.all(QUESTIONS('privateMetadata').map(compare));
      }
    }
    expect(told).toEqual([]);
    expect(differences.filter(([, , one, other]) => one !== other)).toEqual([]);
    expect(answered).toBeGreaterThan(40);
  });

  it('is not changed by others, nor shown by their changes', async () => {
    const { ann, bob, organizationId, orderId } = world;
    const unknown = { ok: false, status: 400, data: ["request body must NOT have additional properties: 'privateMetadata'"] };
    const privateMetadata = { note: 'mine' };
    for (const person of [ann, bob])
      expect(await person.call(face, 'orders.patch', { orderId, privateMetadata })).toMatchObject(unknown);
    expect(await ann.call(face, 'organizations.patch', { organizationId, privateMetadata })).toMatchObject(unknown);
    expect(await ann.call(face, 'identities.patch', { identityId: ann.id, privateMetadata })).toMatchObject({ status: 403 });
    const changes = [
      await ann.call(face, 'organizations.patch', { organizationId, metadata: { a: 1 } }),
      await bob.call(face, 'orders.patch', { orderId, metadata: { a: 1 } }),
    ];
    for (const changed of changes) {
      expect(changed).toMatchObject({ ok: true });
      expect(JSON.stringify(changed)).not.toMatch(/privateMetadata|seeded-secret/);
    }
    expect(await admin.call(face, 'orders.get', { orderId })).toMatchObject({ value: { privateMetadata: { note: SECRET } } });
  });
});

it('of an order that is sent again is what it was made with', async () => {
  const { ann, organizationId, productId } = world;
  const items = [{ productId, quantity: 1, price: 1 }];
  const body = { identityId: ann.id, organizationId, currency: 'USD', items, privateMetadata: { note: GIVEN } };
  const asAdmin = { accessToken: admin.accessToken, headers: { 'idempotency-key': 'once' } };
  const order = async () => valueOf(await app.call('rest', 'orders.create', body, asAdmin)) as Shown;
  const first = await order();
  expect(first).toMatchObject({ privateMetadata: { note: GIVEN } });
  await made(admin, 'orders.patch', { orderId: first.id, privateMetadata: { note: 'changed' } });
  expect(await order()).toEqual(first);
});

it('host code that asks for nobody is shown none', async () => {
  const { orders, organizations, identities } = app.tandem.services;
  const { ann, organizationId, orderId } = world;
  const shown = [
    await orders.get(orderId),
    await orders.list(undefined, {}),
    await organizations.get(organizationId),
    await organizations.list({}),
    await identities.get(ann.id),
    await identities.list({ $top: 50 }),
  ];
  expect(JSON.stringify(shown)).not.toContain(SECRET);
});

it('nothing of it reaches the log', () => {
  for (const secret of [SECRET, GIVEN]) expect(app.logs()).not.toContain(secret);
});
