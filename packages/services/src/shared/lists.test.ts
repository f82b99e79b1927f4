import { randomUUID } from 'node:crypto';
import type { OpenApiDocument, OpenApiParameter } from '@tandem/core';
import { fixture, resolveReference, sendRaw, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp({ isVerified: true }));
let organizationIds: string[];
beforeAll(async () => {
  await app.signIn(ann.email);
  organizationIds = [];
  for (let n = 0; n < 2; n++) {
    const organization = { name: `No. ${n}`, description: '', contact_email: 'a@example.org' };
    const { id } = await ann.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    organizationIds.push(id);
    await ann.rest('POST', '/invitations', { email: `${randomUUID()}@example.org`, organizationId: id }).expect(201);
  }
});

describe('what may not be asked', () => {
  const refused = (text: string) => ({ error: { message: 'Validation Error', data: [text] } });

  it.each(['passwordHash', 'sessionEpoch', 'providers', '_id', '$where', 'deletedAt'])('of identities: %s', async (field) => {
    const answer = await admin.rest('GET', `/identities?$filter=${encodeURIComponent(`${field} ne null`)}`);
    expect(answer).toMatchObject({ status: 400, body: { error: { message: 'Validation Error' } } });
    expect(JSON.stringify(await admin.rest('GET', `/identities?$apply=top(50)`).expect(200))).not.toMatch(/passwordHash|Epoch/);
  });

  it('shows nothing hidden in the records of groups', async () => {
    const apply = encodeURIComponent('groupby((typeId), top(50))');
    const { value } = await admin.rest('GET', `/identities?$apply=${apply}`).expect<{ value: { top: object[] }[] }>(200);
    const shown = ['id', 'email', 'emailVerified', 'typeId', 'locked', 'deactivatedAt', 'metadata', 'createdAt', 'updatedAt'];
    for (const record of value.flatMap(({ top }) => top)) expect(Object.keys(record).sort()).toEqual(shown.toSorted());
  });

  it('of the events about oneself: from where others acted', async () => {
    for (const field of ['ip', 'sessionId', 'userAgent']) {
      const path = `/auth/${ann.id}/events?$filter=${field}%20ne%20null`;
      const text = `query parameter '$filter' has the unknown property '${field}' at offset 0`;
      expect(await ann.rest('GET', path).expect(400)).toEqual(refused(text));
    }
  });

  it('with an object for a number, whatever it would be as text', async () => {
    for (const name of ['page', 'limit', '$skip', '$top']) {
      const input = encodeURIComponent(JSON.stringify({ [name]: { toString: 1 }, $orderby: 'email' }));
      const headers = ['authorization', `Bearer ${admin.accessToken}`];
      const { status, body } = await sendRaw(`${app.url}/trpc/identities.list?input=${input}`, { headers });
      const error = { message: 'Validation Error', data: { data: [`query parameter '${name}' must be number`] } };
      expect({ status, body }).toMatchObject({ status: 400, body: { error } });
    }
  });

  it('of another organization’s invitations, by whatever condition', async () => {
    const [own, other] = organizationIds;
    const filter = encodeURIComponent(`organizationId eq '${other}' or id ne 'x'`);
    const path = `/invitations?organizationId=${own}&$filter=${filter}&limit=50`;
    const { data } = await ann.rest('GET', path).expect<{ data: { organizationId: string }[] }>(200);
    expect(data.map(({ organizationId }) => organizationId)).toEqual([own]);
  });

  it('goes on nowhere with the token of another’s list', async () => {
    const { nextToken } = await ann.rest('GET', `/organizations/members/${ann.id}?$top=1`).expect<{ nextToken: string }>(200);
    const other = `/organizations/members/${admin.id}?$top=1&$nextToken=${nextToken}`;
    await admin.rest('GET', other).expect(400, 'Invalid $nextToken');
    const roles = `/organizations/members/${ann.id}?roles=owner&$top=1&$nextToken=${nextToken}`;
    await ann.rest('GET', roles).expect(400, 'Invalid $nextToken');
    const named = await admin.rest('GET', '/organizations?description=&$top=1').expect<{ nextToken: string }>(200);
    const otherwise = `/organizations?description=x&$top=1&$nextToken=${named.nextToken}`;
    await admin.rest('GET', otherwise).expect(400, 'Invalid $nextToken');
  });
});

it('a page goes on after an hour, where time decides what is in the list', async () => {
  const first = await ann.rest('GET', `/invitations?organizationId=${organizationIds[0]}&$top=1`).expect<object>(200);
  expect(first).toMatchObject({ count: 1 });
  const sessions = `/auth/${ann.id}/sessions?$top=1`;
  const { nextToken } = await ann.rest('GET', sessions).expect<{ nextToken: string }>(200);
  app.clock.advance(60_000);
  const next = await ann.rest('GET', `${sessions}&$nextToken=${nextToken}`).expect<object>(200);
  expect(next).toMatchObject({ count: 1 });
});

it('a total is exact after a write of the same server', async () => {
  const { notifications } = app.tandem.services;
  const total = async () => (await ann.rest('GET', `/notifications/identities/${ann.id}?$top=0`).expect<{ total: number }>(200)).total; // prettier-ignore
  await notifications.notifyMany(Array.from({ length: 3000 }, () => ({ receiverId: ann.id })));
  expect(await total()).toBe(3000);
  await notifications.notify(ann.id);
  expect(await total()).toBe(3001);
});

it('the OpenAPI document tells of each list its fields, operators, limits and examples', async () => {
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
  const { parameters = [] } = document.paths['/notifications/identities/{identityId}']?.get ?? {};
  const described = parameters.map((one) => resolveReference<OpenApiParameter>(document, one));
  const filter = described.find(({ name }) => name === '$filter');
  expect(filter?.description).toContain('`isRead` (boolean)');
  expect(filter?.example).toBe('isRead eq true and createdAt ge 2026-01-31');
  expect(resolveReference(document, filter?.schema ?? {})).toMatchObject({
    type: 'string',
    maxLength: 4096,
    description: expect.stringContaining('4,096 characters') as string,
  });
  const top = described.find(({ name }) => name === '$top');
  expect(top?.schema).toMatchObject({ type: 'integer', minimum: 0, maximum: 100 });
});
