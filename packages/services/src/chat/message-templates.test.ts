import { FACES, NOT_SIGNED_IN, NO_ID, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { valueOf } from '../../test/chat-world.js';
import { createOrganization, signUpAll } from '../../test/people.js';
import type { MessageTemplate } from './message-templates.schemas.js';

const WHO = ['stranger', 'member', 'guest', 'manager', 'owner', 'admin'] as const;

const app = fixture(startTestServer);
const people = fixture(() => signUpAll(app, WHO));
let organizationId: string;
let global: MessageTemplate;
beforeAll(async () => {
  organizationId = await found();
  global = await people.admin.rest('POST', '/message-templates', { title: 'All', content: 'Hello' }).expect<MessageTemplate>(201);
});

const found = () => createOrganization(people.owner, { member: [people.member], admin: [people.guest, people.manager] });
const create = (fields: object = { organizationId }) =>
  people.owner
    .rest('POST', '/message-templates', { title: 'Thanks', content: 'Thank you!', ...fields })
    .expect<MessageTemplate>(201);

describe.each(FACES)('message templates over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);
  const missing = (message: string) => ({ ok: false, status: 404, message });

  it('belong to an organization or are global, and are listed accordingly', async () => {
    const made = await create();
    expect(made).toMatchObject({ title: 'Thanks', content: 'Thank you!', organizationId });
    expect(global.organizationId).toBeNull();
    const ofOrganization = await call(people.manager, 'listMessageTemplatesOfOrganization', { organizationId });
    const { data } = valueOf(ofOrganization) as { data: MessageTemplate[] };
    expect(data[0]).toEqual(made);
    expect(data.map((one) => one.organizationId)).toEqual(data.map(() => organizationId));
    const all = valueOf(await call(people.admin, 'listMessageTemplates', { limit: 50 })) as { data: MessageTemplate[] };
    expect(all.data).toContainEqual(made);
    expect(all.data).toContainEqual(global);
  });

  it('are changed in the given fields, deleted, and restored by an admin', async () => {
    const { id: messageTemplateId } = await create();
    const patch = (fields: object) => call(people.owner, 'patchMessageTemplate', { messageTemplateId, ...fields });
    expect(await patch({ title: 'Many thanks' })).toMatchObject({ value: { title: 'Many thanks', content: 'Thank you!' } });
    expect(await patch({})).toEqual({ ok: false, status: 400, message: 'Failed to update message template' });
    expect(await patch({ organizationId: NO_ID })).toMatchObject({ status: 400 });
    expect(await call(people.owner, 'deleteMessageTemplate', { messageTemplateId })).toEqual({ ok: true });
    expect(await call(people.admin, 'getMessageTemplate', { messageTemplateId })).toEqual(
      missing('Chat message template not found'),
    );
    for (const name of ['patchMessageTemplate', 'deleteMessageTemplate'])
      expect(await call(people.admin, name, { messageTemplateId, ...(name.startsWith('p') && { title: 'x' }) })).toEqual(
        missing('Message template not found'),
      );
    const restored = await call(people.admin, 'restoreMessageTemplate', { messageTemplateId });
    expect(restored).toMatchObject({ value: { title: 'Many thanks' } });
    expect(await call(people.admin, 'restoreMessageTemplate', { messageTemplateId })).toEqual(
      missing('Message template not found'),
    );
  });

  it('need an organization that exists', async () => {
    const input = { title: 'x', content: 'x', organizationId: NO_ID };
    expect(await call(people.admin, 'createMessageTemplate', input)).toEqual(missing('Organization not found'));
  });

  it('are open to the managers of their organization and to admins, global ones to admins only', async () => {
    const { id } = await create();
    type Who = keyof typeof people;
    const managing: Who[] = ['guest', 'manager', 'owner', 'admin'];
    const writing: Who[] = ['manager', 'owner', 'admin'];
    const bad = { foo: 1 };
    const rows: [string, Record<string, unknown>, Who[]][] = [
      ['createMessageTemplate', { organizationId, ...bad }, writing],
      ['createMessageTemplate', bad, ['admin']],
      ['listMessageTemplates', { page: 0 }, ['admin']],
      // as an organization's own affair: the admin reads them among all
      ['listMessageTemplatesOfOrganization', { organizationId, page: 0 }, ['guest', 'manager', 'owner']],
      ['getMessageTemplate', { messageTemplateId: id, ...bad }, managing],
      ['patchMessageTemplate', { messageTemplateId: id, ...bad }, writing],
      ['deleteMessageTemplate', { messageTemplateId: id, ...bad }, writing],
      ['restoreMessageTemplate', { messageTemplateId: id, ...bad }, ['admin']],
      ...(['getMessageTemplate', 'patchMessageTemplate', 'deleteMessageTemplate'].flatMap((name) =>
        [global.id, NO_ID].map(
          (messageTemplateId) => [name, { messageTemplateId, ...bad }, ['admin']] as [string, object, Who[]],
        ),
      ) as [string, Record<string, unknown>, Who[]][]),
    ];
    for (const [name, input, allowed] of rows) {
      expect(await app.call(face, `chat.${name}`, input)).toEqual(NOT_SIGNED_IN);
      const passed: Who[] = [];
      for (const [who, person] of Object.entries(people) as [Who, Person][]) {
        const { status } = (await call(person, name, input)) as { status?: number };
        expect([400, 403, 404], `${name} by ${who}`).toContain(status);
        if (status !== 403) passed.push(who);
      }
      expect(passed, `${name} ${JSON.stringify(input)}`).toEqual(allowed);
    }
  });
});

it('message templates are deleted and restored with their organization, except those deleted before', async () => {
  const own = await found();
  const [stays, gone] = [await create({ organizationId: own }), await create({ organizationId: own })];
  await people.owner.rest('DELETE', `/message-templates/${gone.id}`).expect(204);
  await people.owner.rest('DELETE', `/organizations/${own}`).expect(204);
  await people.admin.rest('GET', `/message-templates/${stays.id}`).expect(404);
  await people.admin.rest('POST', `/message-templates/${stays.id}/restore`).expect(404, 'Organization not found');
  await people.admin.rest('POST', `/organizations/${own}/restore`).expect(200);
  expect(await people.admin.rest('GET', `/message-templates/${stays.id}`).expect(200)).toEqual(stays);
  await people.admin.rest('GET', `/message-templates/${gone.id}`).expect(404);
});

it('none of 20 message templates created on two servers survives the deletion of their organization', async () => {
  await using other = await startTestServer({ clock: app.clock });
  const own = await found();
  const admins = [people.admin, await other.signIn(people.admin.email)];
  const body = { title: 'Thanks', content: 'Thank you!', organizationId: own };
  const made = Array.from({ length: 20 }, (_, n) => admins[n % 2]?.rest('POST', '/message-templates', body));
  const [deleted, ...answers] = await Promise.all([people.owner.rest('DELETE', `/organizations/${own}`), ...made]);
  expect(deleted.status).toBe(204);
  const listed = async () => {
    const { total } = await people.admin
      .rest('GET', `/message-templates?organizationId=${own}&$top=0`)
      .expect<{ total: number }>(200);
    return total;
  };
  expect(await listed()).toBe(0);
  await people.admin.rest('POST', `/organizations/${own}/restore`).expect(200);
  expect(await listed()).toBe(answers.filter((answer) => answer?.status === 201).length);
});
