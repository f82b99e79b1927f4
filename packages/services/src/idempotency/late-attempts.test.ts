import { randomUUID } from 'node:crypto';
import { databaseOf, fixture, isCommand, startStoreProxy, startTestServer, type TestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { createsOf, type Create } from '../../test/creates.js';
import { createOrganization } from '../../test/people.js';

/** Longer than an attempt keeps others waiting, in milliseconds. */
const LATE_MS = 15_000;
const proxy = fixture(() => startStoreProxy(databaseOf('lateAttempts')));
const stalling = fixture(() => startTestServer({ mongodbUri: proxy.uri }));
const other = fixture(() => startTestServer({ mongodbUri: stalling.mongodbUri, clock: stalling.clock }));
const admin = fixture(() => stalling.signUpAdmin());

const creates: [string, () => Promise<{ route: string; input: object }>][] = [
  [
    'a product of an organization',
    async () => {
      const organizationId = await createOrganization(admin);
      return { route: '/products', input: { name: randomUUID(), description: '', organizationId } };
    },
  ],
  [
    'a profile',
    async () => {
      const { id: identityId } = await stalling.signUp();
      return { route: '/profiles', input: { identityId, name: 'Ann' } };
    },
  ],
];

it.each(creates)('an attempt that comes late takes nothing of the next one back: %s', async (_, prepare) => {
  const { route, input } = await prepare();
  const headers = { 'idempotency-key': randomUUID() };
  const post = (on: TestServer) => on.rest('POST', route, input, { ...admin.credentials, headers });
  const { reached, release } = proxy.hold(isCommand('units.findAndModify'));
  const late = post(stalling);
  await reached;
  stalling.clock.advance(LATE_MS);
  const { id } = await post(other).expect<{ id: string }>(201);
  release();
  expect((await late).status).not.toBe(201);
  await stalling.storage.sweep();
  await other.rest('GET', `${route}/${id}`, undefined, admin.credentials).expect(200);
});

const storing = [
  ['chat.createMessageTemplate', 'messageTemplates.insert', {}],
  ['chat.createSubscription', 'subscriptions.insert', {}],
  ['chat.createReport', 'reports.insert', {}],
  ['chat.createBan', 'bans.insert', {}],
  ['webhooks.create', 'webhooks.insert', {}],
  ['organizations.create', 'units.findAndModify', {}],
  ['products.create', 'products.insert', { organizationId: undefined }],
] as const;

it.each(storing)(
  'what one stores that comes late, just before the next does, is the answer of that: %s',
  async (name, command, but) => {
    const { input, count } = await (createsOf(stalling, () => admin)[name] as Create).prepare();
    const headers = { 'idempotency-key': randomUUID() };
    const send = (on: TestServer) => on.call('rest', name, { ...input, ...but }, { ...admin.credentials, headers });
    const first = proxy.hold(isCommand(command));
    const late = send(stalling);
    await first.reached;
    stalling.clock.advance(LATE_MS);
    const second = proxy.hold(isCommand(command));
    const next = send(other);
    await second.reached;
    first.release();
    await late;
    second.release();
    expect(await next).toMatchObject({ ok: true });
    expect(await count()).toBe(1);
  },
);
