import {
  FACES,
  NOT_SIGNED_IN,
  NO_ID,
  failing,
  fixture,
  isCommand,
  startStoreProxy,
  startTestServer,
  type Person,
} from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { valueOf } from '../../test/chat-world.js';
import { createOrganization, signUpAll } from '../../test/people.js';
import { isSignedBy, orderEvent, startReceiver, sendNoEvents } from '../../test/webhook-receiver.js';
import type { Webhook, WebhookWithSecret } from './webhooks.schemas.js';

const WHO = ['stranger', 'member', 'guest', 'manager', 'owner', 'admin'] as const;
type Who = (typeof WHO)[number];
/** No DNS server knows it. */
const url = 'https://receiver.invalid/hook';

const app = fixture(() => startTestServer({ webhooks: { privateAddresses: true, pollMs: 3_600_000 } }));
const people = fixture(() => signUpAll(app, WHO));
const found = () => createOrganization(people.owner, { member: [people.member], admin: [people.guest, people.manager] });
let organizationId: string;
beforeAll(async () => {
  await sendNoEvents(app);
  organizationId = await found();
});
const create = (person: Person, fields: object = {}) =>
  person.rest('POST', '/webhooks', { url, types: ['*'], ...fields }).expect<WebhookWithSecret & { secret: string }>(201);

describe.each(FACES)('webhooks over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `webhooks.${procedure}`, input);
  const missing = failing(404, 'Webhook not found');

  it('are made with a secret, which nothing shows again', async () => {
    const input = { url, types: ['order.*', 'product.created'], organizationId, description: 'Stock' };
    const made = valueOf(await call(people.owner, 'create', input)) as WebhookWithSecret;
    const { secret, ...shown } = made;
    expect(Buffer.from((secret ?? '').replace('whsec_', ''), 'base64')).toHaveLength(32);
    expect(shown).toEqual({
      id: shown.id,
      ...input,
      createdBy: people.owner.id,
      disabledAt: null,
      createdAt: shown.createdAt,
      updatedAt: shown.createdAt,
    });
    const webhookId = shown.id;
    expect(valueOf(await call(people.owner, 'get', { webhookId }))).toEqual(shown);
    const patched = valueOf(await call(people.owner, 'patch', { webhookId, description: null }));
    expect(patched).toMatchObject({ id: webhookId, description: null, types: input.types });
    const queries = [{}, { $top: 20 }, { $filter: 'disabledAt eq null' }, { $select: 'url' }];
    for (const query of queries)
      expect(JSON.stringify(await call(people.owner, 'list', { organizationId, ...query }))).not.toMatch(
        /whsec_|slot|disablingId/,
      );
    expect(JSON.stringify([shown, patched])).not.toContain('whsec_');
    const rotated = valueOf(await call(people.owner, 'rotateSecret', { webhookId })) as WebhookWithSecret;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    expect(app.logs()).not.toContain('whsec_');
  });

  it('are listed by organization, to admins also without', async () => {
    const own = await found();
    const made = await create(people.owner, { organizationId: own });
    const global = await create(people.admin);
    const idsBy = async (person: Person, input: object) =>
      (valueOf(await call(person, 'list', { ...input, limit: 50 })) as { data: Webhook[] }).data.map(({ id }) => id);
    expect(await idsBy(people.manager, { organizationId })).not.toContain(made.id);
    expect(await idsBy(people.owner, { organizationId: own })).toEqual([made.id]);
    expect(await idsBy(people.admin, {})).toEqual(expect.arrayContaining([made.id, global.id]));
  });

  it('are changed in the given fields, and are gone once deleted', async () => {
    const { id: webhookId } = await create(people.owner, { organizationId });
    const patch = (fields: object) => call(people.owner, 'patch', { webhookId, ...fields });
    expect(await patch({ types: ['order.created'] })).toMatchObject({ value: { types: ['order.created'], url } });
    expect(await patch({})).toEqual(failing(400, 'Failed to update webhook'));
    expect(await patch({ organizationId: NO_ID })).toMatchObject({ status: 400 });
    expect(await patch({ disabledAt: new Date().toISOString() })).toMatchObject({ status: 400 });
    expect(await call(people.owner, 'delete', { webhookId })).toEqual({ ok: true });
    for (const name of ['get', 'delete', 'rotateSecret', 'test'])
      expect(await call(people.admin, name, { webhookId })).toEqual(missing);
    expect(await call(people.admin, 'patch', { webhookId, types: ['*'] })).toEqual(missing);
    expect(await call(people.admin, 'redeliver', { webhookId, deliveryId: NO_ID })).toEqual(missing);
  });

  it('need an organization that exists, types that do, and an address without credentials', async () => {
    const attempt = (fields: object) => call(people.admin, 'create', { url, types: ['*'], ...fields });
    expect(await attempt({ organizationId: NO_ID })).toEqual(failing(404, 'Organization not found'));
    const type = 'must be a type of events such as order.created, order.* or *';
    const wrong: [object, string][] = [
      [{ types: [] }, 'request body/types must NOT have fewer than 1 items'],
      [{ types: ['order.eaten'] }, `request body/types/0 ${type}`],
      [{ types: ['*', 'or*'] }, `request body/types/1 ${type}`],
      [{ types: ['*', '*'] }, 'request body/types/1 must NOT be repeated'],
      [{ url: 'ftp://example.org' }, 'request body/url must match format "url"'],
      [{ url: 'example.org' }, 'request body/url must match format "url"'],
      [{ url: 'https://ann:secret@example.org' }, 'request body/url must NOT have a user name or password'],
      [{ url: `https://example.org/${'x'.repeat(2000)}` }, 'request body/url must NOT have more than 2000 characters'],
      [{ secret: 'whsec_x' }, "request body must NOT have additional properties: 'secret'"],
    ];
    for (const [fields, problem] of wrong)
      expect(await attempt(fields)).toEqual({ ...failing(400, 'Validation Error'), data: [problem] });
  });

  it('are open to the managers of their organization and to admins, those of none to admins only', async () => {
    const { id: own } = await create(people.owner, { organizationId });
    const { id: global } = await create(people.admin);
    const managing: Who[] = ['guest', 'manager', 'owner', 'admin'];
    const writing: Who[] = ['manager', 'owner', 'admin'];
    const bad = { foo: 1 };
    const reads = ['get', 'listDeliveries'];
    const writes = ['patch', 'delete', 'rotateSecret', 'test', 'redeliver'];
    const rows: [string, Record<string, unknown>, Who[]][] = [
      ['create', { organizationId, ...bad }, writing],
      ['create', bad, ['admin']],
      ['list', { organizationId, page: 0 }, managing],
      ['list', { page: 0 }, ['admin']],
      ...[...reads, ...writes].flatMap((name): [string, Record<string, unknown>, Who[]][] => {
        // the others have nothing to validate but ids; `redeliver` ends with 404
        const input = {
          ...(name === 'redeliver' && { deliveryId: 'no id' }),
          ...(name === 'patch' && bad),
          ...(name === 'listDeliveries' && { page: 0 }),
        };
        const isRepeatable = name !== 'delete';
        const who = reads.includes(name) ? managing : writing;
        return [
          ...(isRepeatable ? [[name, { webhookId: own, ...input }, who] as [string, Record<string, unknown>, Who[]]] : []),
          [name, { webhookId: NO_ID, ...input }, ['admin']],
          ...(isRepeatable
            ? [[name, { webhookId: global, ...input }, ['admin']] as [string, Record<string, unknown>, Who[]]]
            : []),
        ];
      }),
    ];
    for (const [name, input, allowed] of rows) {
      expect(await app.call(face, `webhooks.${name}`, input)).toEqual(NOT_SIGNED_IN);
      const passed: Who[] = [];
      for (const who of WHO) if (((await call(people[who], name, input)) as { status?: number }).status !== 403) passed.push(who);
      expect(passed, `${name} ${JSON.stringify(input)}`).toEqual(allowed);
    }
    expect(await call(people.member, 'delete', { webhookId: own })).toMatchObject({ status: 403 });
  });

  it('that are disabled are neither tested nor sent anything again', async () => {
    await using receiver = await startReceiver();
    const { id: webhookId } = await create(people.owner, { organizationId, url: receiver.url });
    receiver.answer(410);
    const { id: deliveryId } = valueOf(await call(people.owner, 'test', { webhookId })) as { id: string };
    await app.tandem.services.webhooks.sending.work();
    const disabled = failing(409, 'Webhook is disabled');
    expect(await call(people.owner, 'test', { webhookId })).toEqual(disabled);
    expect(await call(people.owner, 'redeliver', { webhookId, deliveryId })).toEqual(disabled);
    expect(await call(people.owner, 'patch', { webhookId, disabledAt: null })).toMatchObject({ value: { disabledAt: null } });
    expect(await call(people.owner, 'redeliver', { webhookId, deliveryId: NO_ID })).toEqual(
      failing(404, 'Webhook delivery not found'),
    );
    expect(await call(people.owner, 'redeliver', { webhookId, deliveryId })).toMatchObject({ value: { status: 'pending' } });
  });
});

it('a delivery of another webhook is not sent again', async () => {
  await using receiver = await startReceiver();
  const [one, other] = [await create(people.owner, { organizationId, url: receiver.url }), await create(people.admin)];
  const { id } = await people.admin.rest('POST', `/webhooks/${other.id}/test`).expect<{ id: string }>(201);
  await people.owner.rest('POST', `/webhooks/${one.id}/deliveries/${id}/redeliver`).expect(404, 'Webhook delivery not found');
});

it('of 60 webhooks made at once for an organization on two servers 50 are kept', async () => {
  await using other = await startTestServer({ clock: app.clock, webhooks: { privateAddresses: true, pollMs: 3_600_000 } });
  const own = await found();
  const owners = [people.owner, await other.signIn(people.owner.email)];
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, n) =>
      owners[n % 2]?.rest('POST', '/webhooks', { url, types: ['*'], organizationId: own }),
    ),
  );
  expect(answers.filter((answer) => answer?.status === 201)).toHaveLength(50);
  expect(answers.filter((answer) => answer?.status === 409)).toHaveLength(10);
  const { data } = await people.owner.rest('GET', `/webhooks?organizationId=${own}&limit=50`).expect<{ data: Webhook[] }>(200);
  await people.owner.rest('DELETE', `/webhooks/${data[0]?.id}`).expect(204);
  await create(people.owner, { organizationId: own });
  await people.owner
    .rest('POST', '/webhooks', { url, types: ['*'], organizationId: own })
    .expect(409, 'There must NOT be more than 50 webhooks');
});

it('webhooks are deleted and restored with their organization, with their secrets', async () => {
  await using receiver = await startReceiver();
  const own = await found();
  const [stays, gone] = [
    await create(people.owner, { organizationId: own, url: receiver.url }),
    await create(people.owner, { organizationId: own }),
  ];
  await people.owner.rest('DELETE', `/webhooks/${gone.id}`).expect(204);
  await people.owner.rest('DELETE', `/organizations/${own}`).expect(204);
  await people.admin.rest('GET', `/webhooks/${stays.id}`).expect(404);
  const { dispatch, sending } = app.tandem.services.webhooks;
  await dispatch([orderEvent({ organizationId: own })]);
  await people.admin.rest('POST', `/organizations/${own}/restore`).expect(200);
  await people.admin.rest('GET', `/webhooks/${gone.id}`).expect(404);
  const event = orderEvent({ organizationId: own });
  await dispatch([event]);
  await sending.work();
  expect(receiver.ids()).toEqual([event.id]);
  expect(receiver.received.every((message) => isSignedBy(stays.secret, message))).toBe(true);
});

describe('while an organization is live again, and its webhooks are not', () => {
  const proxy = fixture(() => startStoreProxy(app.mongodbUri));
  const restoring = fixture(() => startTestServer({ mongodbUri: proxy.uri, clock: app.clock }));
  const restore = async (id: string) => (await restoring.signIn(people.admin.email)).rest('POST', `/organizations/${id}/restore`);

  it('a new one takes the place of none of them', async () => {
    const own = await found();
    for (let n = 0; n < 50; n++) await create(people.owner, { organizationId: own });
    await people.owner.rest('DELETE', `/organizations/${own}`).expect(204);
    const { reached, release } = proxy.hold(isCommand('webhooks.update'));
    const restored = restore(own);
    await reached;
    const given = { url, types: ['*'], organizationId: own };
    await people.owner.rest('POST', '/webhooks', given).expect(409, 'There must NOT be more than 50 webhooks');
    release();
    expect(await restored).toMatchObject({ status: 200 });
    const { data } = await people.owner.rest('GET', `/webhooks?organizationId=${own}&limit=50`).expect<{ data: Webhook[] }>(200);
    expect(data).toHaveLength(50);
  });

  it('one that cannot come back is not called a name that is taken', async () => {
    const own = await found();
    await create(people.owner, { organizationId: own });
    await people.owner.rest('DELETE', `/organizations/${own}`).expect(204);
    const keyPattern = { organizationId: 1, slot: 1 };
    const refused = { index: 0, code: 11_000, keyPattern, errmsg: 'E11000 duplicate key error' };
    void proxy.answer(isCommand('webhooks.update'), { ok: 1, n: 0, nModified: 0, writeErrors: [refused] });
    expect(await restore(own)).toMatchObject({ status: 500 });
    expect(await restore(own)).toMatchObject({ status: 200 });
  });
});

it('an archive of who made a webhook has neither its address nor its text, which others may have written since', async () => {
  const { id } = await create(people.manager, { organizationId });
  const hidden = { url: 'https://receiver.invalid/secret-path', description: 'Theirs' };
  await people.owner.rest('PATCH', `/webhooks/${id}`, hidden).expect(200);
  const exported: object[] = [];
  for await (const { collection, records } of app.storage.people.exported({ id: people.manager.id, emails: [] }, {}))
    if (collection === 'webhooks') exported.push(...records);
  expect(exported).toMatchObject([{ organizationId }]);
  expect(JSON.stringify(exported)).not.toMatch(/secret-path|Theirs/);
});
