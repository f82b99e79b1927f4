import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, failureOf, newAccount } from '../test/clients.js';
import { createNotificationStream } from './index.js';

const COOKIES = { auth: 'cookie', identities: 'cookie', notifications: 'cookie' } as const;
const app = fixture(startTestServer);
const inCookies = fixture(() => startTestServer({ clock: app.clock, authModes: COOKIES, publicUrl: 'https://app.example.org' }));

async function keyOf(scopes: string[]) {
  const ann = await app.signUp();
  const { id, key } = await ann
    .rest('POST', `/auth/${ann.id}/keys`, { name: 'report', scopes })
    .expect<{ id: string; key: string }>(201);
  return { ann, keyId: id, apiKey: key };
}

it.each([
  ['bearer', () => app],
  ['cookie', () => inCookies],
])('a client with an API key acts as its identity, on a server in %s mode', async (_mode, server) => {
  const { ann, apiKey } = await keyOf(['*']);
  const { client, requests } = createClient(server(), { apiKey });
  expect(await client.api.identities.get.query({ identityId: ann.id })).toMatchObject({ id: ann.id });
  const { id } = await server().tandem.services.notifications.notify(ann.id);
  await client.api.notifications.markRead.mutate({ notificationId: id });
  expect(requests.flatMap(({ procedures }) => procedures)).not.toContain('auth.refreshToken');
});

it('its calls fail with 403 for what no scope names, and with 401 once the key is deleted, without a refresh', async () => {
  const { ann, keyId, apiKey } = await keyOf(['identities.get']);
  const { client, requests, signedOut } = createClient(app, { apiKey });
  const unread = client.api.notifications.unreadCount.query({ identityId: ann.id });
  expect(await failureOf(unread)).toMatchObject({ status: 403, message: 'API key does not allow this' });
  await ann.rest('DELETE', `/auth/${ann.id}/keys/${keyId}`).expect(204);
  const read = client.api.identities.get.query({ identityId: ann.id });
  expect(await failureOf(read)).toMatchObject({ status: 401, message: 'token could not be verified' });
  expect(requests).toHaveLength(2);
  expect(signedOut).toEqual([]);
});

it.each(['*:read', 'notifications.events'])('reads streams with a key that allows %s', async (scope) => {
  const { ann, apiKey } = await keyOf([scope]);
  const { client } = createClient(app, { apiKey });
  const [told, states]: [string[], string[]] = [[], []];
  const stream = createNotificationStream({
    url: app.url,
    client,
    WebSocket,
    onNotification: ({ id }) => void told.push(id),
    onState: (state) => void states.push(state),
  });
  onTestFinished(() => stream.close());
  await expect.poll(() => states, PATIENCE).toEqual(['up']);
  const { id } = await app.tandem.services.notifications.notify(ann.id);
  await expect.poll(() => told, PATIENCE).toEqual([id]);
});

it('is told that a stream is refused for good to a key that does not allow it', async () => {
  const { apiKey } = await keyOf(['identities.get']);
  const { client, count } = createClient(app, { apiKey });
  const refused = new Promise<void>((resolve) => {
    const stream = createNotificationStream({ url: app.url, client, WebSocket, onNotification() {}, onSignedOut: resolve });
    onTestFinished(() => stream.close());
  });
  await refused;
  expect(count('notifications.createListenTicket')).toBe(1);
});

it('nobody signs in with it', async () => {
  const { apiKey } = await keyOf(['*']);
  const { client } = createClient(app, { apiKey });
  await expect(client.signUp(newAccount())).rejects.toThrow('a client with an API key acts as the identity of the key');
});
