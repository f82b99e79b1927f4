import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createShop } from './embedding-example.js';

let dataDir: string;
let shop: Awaited<ReturnType<typeof createShop>>;
let server: Server;
let url: string;
let authorization: string;
let id: string;

async function call(method: string, route: string, body?: object, headers: Record<string, string> = { authorization }) {
  const response = await fetch(url + route, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>) };
}

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-shop-'));
  shop = await createShop({ dataDir, authSecrets: { authEncSecret: 'e'.repeat(32), authSignSecret: 's'.repeat(32) } });
  await new Promise<void>((listening) => {
    server = shop.app.listen(0, '127.0.0.1', () => listening());
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const account = { email: 'ann@example.org', password: 'of a customer of the shop' };
  id = (await call('POST', '/auth/register', account, {})).body?.id as string;
  authorization = `Bearer ${(await call('POST', '/auth/login', account, {})).body?.accessToken as string}`;
});
afterAll(async () => {
  server.close();
  await shop.close();
  await rm(dataDir, { recursive: true });
});

describe('a host application', () => {
  it('is the one in docs/embedding.md', async () => {
    const document = await readFile(new URL('../docs/embedding.md', import.meta.url), 'utf8');
    const example = await readFile(new URL('embedding-example.ts', import.meta.url), 'utf8');
    expect(document).toContain(`\`\`\`ts\n${example}\`\`\``);
  });

  it('answers its own procedure on both faces, and its notification is in the list', async () => {
    const overRest = await call('POST', '/parcels/p-1/announcements', { note: 'on its way' });
    const overTrpc = await call('POST', '/trpc/parcels.announce', { parcelId: 'p-1', note: 'nearly there' });
    expect([overRest.status, overTrpc.status]).toEqual([201, 200]);
    const list = await call('GET', `/notifications/identities/${id}`);
    expect(list.body?.data).toMatchObject([
      { note: 'nearly there', kind: 'parcel', isRead: false },
      { id: overRest.body?.notificationId, note: 'on its way' },
    ]);
  });

  it('has its own errors and its own validation in the same envelope', async () => {
    expect(await call('POST', '/parcels/p-2/announcements', { note: 'x' })).toEqual({
      status: 404,
      body: { error: { message: 'Parcel not found' } },
    });
    expect(await call('POST', '/parcels/p-1/announcements', { note: '' })).toMatchObject({
      status: 400,
      body: { error: { data: ['request body/note must NOT have fewer than 1 characters'] } },
    });
    expect(await call('POST', '/parcels/p-1/announcements', { note: 'x' }, {})).toMatchObject({ status: 422 });
    expect(await call('GET', '/nowhere')).toEqual({ status: 404, body: { error: { message: 'Not Found' } } });
  });

  it('guards its plain routes with isAuthenticated, which has its old name too', async () => {
    expect(await call('GET', '/whoami')).toMatchObject({ status: 200, body: { id, typeId: 'customer' } });
    expect(await call('GET', '/whoami', undefined, {})).toEqual({
      status: 422,
      body: { error: { message: 'Missing authorization header' } },
    });
    expect(shop.tandem.verifyAuthentication).toBe(shop.tandem.isAuthenticated);
  });

  it('has its own operations in the OpenAPI document', async () => {
    const { body } = await call('GET', '/openapi.json');
    expect(body?.paths).toMatchObject({
      '/parcels/{parcelId}/announcements': { post: { operationId: 'parcels.announce' } },
      '/auth/login': { post: { operationId: 'auth.login' } },
    });
  });
});
