import { operationsOf, scopedProcedures, whoOf } from '@tandem/core';
import { FACES, NO_ID, fixture, openStream, refusalOf, startTestServer, type Credentials } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { makeKey } from '../../test/api-keys.js';
import { openChannel, say } from '../../test/chat-world.js';

const NOT_ALLOWED = { ok: false, status: 403, message: 'API key does not allow this' };
/** Scopes of a key in this test: each operation is named by one of so many keys. */
const PARTS = 4;

const app = fixture(startTestServer);

interface Case {
  name: string;
  service: string;
  isRead: boolean;
  isPublic: boolean;
  input: Record<string, string>;
  /** The key that names it, of those that name a part of all operations each. */
  part: number;
}
const admin = fixture(() => app.signUpAdmin());
const cases = fixture(() => {
  const reads = new Map(scopedProcedures(app.tandem.router).map(({ name, isRead }) => [name, isRead]));
  const operations = operationsOf(app.tandem.router).filter(({ name }) => !name.startsWith('auth.'));
  const all = operations.map((operation, at): Case => {
    const { name, pathKeys } = operation;
    const service = name.split('.')[0] as string;
    const input = Object.fromEntries(pathKeys.map((key) => [key, NO_ID]));
    return { name, service, isRead: reads.get(name) === true, isPublic: whoOf(operation) === 'anybody', input, part: at % PARTS };
  });
  return Promise.resolve({ all });
});

/** Keys of an admin, so that rules refuse little. */
const keys = fixture(async () => {
  const make = async (...scopes: string[]) => (await makeKey(admin, { scopes })).credentials;
  const services = [...new Set(cases.all.map(({ service }) => service))];
  const named = (part: number) => cases.all.filter((one) => one.part === part).map(({ name }) => name);
  return {
    byName: await Promise.all(Array.from({ length: PARTS }, (_, part) => make(...named(part)))),
    byService: new Map(await Promise.all(services.map(async (one) => [one, await make(`${one}.*`)] as const))),
    readsOfService: new Map(await Promise.all(services.map(async (one) => [one, await make(`${one}.*:read`)] as const))),
    reads: await make('*:read'),
    everything: await make('*'),
  };
});

/** What a key with each scope may do. */
const COLUMNS: Record<string, (one: Case) => { credentials: Credentials | undefined; isAllowed: boolean }> = {
  'its name': ({ part }) => ({ credentials: keys.byName[part], isAllowed: true }),
  'the names of others': ({ part }) => ({ credentials: keys.byName[(part + 1) % PARTS], isAllowed: false }),
  'its service': ({ service }) => ({ credentials: keys.byService.get(service), isAllowed: true }),
  'another service': ({ service }) => ({
    credentials: [...keys.byService].find(([one]) => one !== service)?.[1],
    isAllowed: false,
  }),
  'the reads of its service': ({ service, isRead }) => ({ credentials: keys.readsOfService.get(service), isAllowed: isRead }),
  'all reads': ({ isRead }) => ({ credentials: keys.reads, isAllowed: isRead }),
  everything: () => ({ credentials: keys.everything, isAllowed: true }),
};

describe.each(FACES)('over %s', (face) => {
  it('a key for reads gets no upload address, which takes up room', async () => {
    for (const credentials of [keys.reads, keys.readsOfService.get('products')]) {
      const outcome = await app.call(
        face,
        'products.imageUploadUrl',
        { productId: NO_ID, contentType: 'image/png' },
        credentials,
      );
      expect(outcome).toMatchObject(NOT_ALLOWED);
    }
  });

  it.each(Object.keys(COLUMNS))('a key with a scope for %s reaches what it names, of all operations', async (column) => {
    expect(cases.all.length).toBeGreaterThan(140);
    const wrong: string[] = [];
    for (const one of cases.all) {
      const { credentials, isAllowed } = COLUMNS[column]?.(one) ?? { credentials: {}, isAllowed: false };
      const outcome = await app.call(face, one.name, one.input, credentials);
      const isRefused = !outcome.ok && outcome.message === NOT_ALLOWED.message;
      const isKnown = outcome.ok || outcome.status !== 401;
      if (isRefused === (isAllowed || one.isPublic) || !isKnown) wrong.push(`${one.name}: ${JSON.stringify(outcome)}`);
    }
    expect(wrong).toEqual([]);
  });

  it('no key reaches a procedure of auth, but the public ones answer as to anybody', async () => {
    const { credentials } = await makeKey(admin, { scopes: ['*', '*:read'] });
    const ofAuth = operationsOf(app.tandem.router).filter(({ name }) => name.startsWith('auth.'));
    for (const operation of ofAuth) {
      const input = Object.fromEntries(operation.pathKeys.map((key) => [key, NO_ID]));
      const outcome = await app.call(face, operation.name, input, credentials);
      const isRefused = !outcome.ok && outcome.message === NOT_ALLOWED.message;
      expect(isRefused, operation.name).toBe(whoOf(operation) !== 'anybody');
    }
    expect(ofAuth.length).toBeGreaterThan(30);
  });

  it('rules come after scopes, and refuse a key as they refuse its identity', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { credentials } = await makeKey(ann, { scopes: ['identities.*'] });
    const call = (name: string, identityId: string) => app.call(face, name, { identityId }, credentials);
    expect(await call('identities.get', ann.id)).toMatchObject({ ok: true, value: { id: ann.id } });
    expect(await call('identities.get', bob.id)).toEqual(await ann.call(face, 'identities.get', { identityId: bob.id }));
    expect(await call('identities.lock', bob.id)).toEqual(await ann.call(face, 'identities.lock', { identityId: bob.id }));
    expect(await call('notifications.unreadCount', bob.id)).toEqual(NOT_ALLOWED);
  });

  it('a public list shows a key’s identity what it may see only if a scope names the list', async () => {
    const ann = await app.signUp();
    const organization = { name: 'Bakery', description: '', contact_email: 'a@example.org' };
    const { id: organizationId } = await ann.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const product = { name: 'Rye', description: '', price: { amount: 1, currency: 'EUR' }, organizationId };
    const { id } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
    const shown = async (credentials: Credentials) => {
      const input = { productId: id, $expand: 'organization' };
      const outcome = await app.call(face, 'products.get', input, credentials);
      return (outcome as { value: { organization: { id: string } | null } }).value.organization?.id;
    };
    expect(await shown((await makeKey(ann, { scopes: ['products.get'] })).credentials)).toBe(organizationId);
    expect(await shown((await makeKey(ann, { scopes: ['products.list'] })).credentials)).toBe(undefined);
    expect(await shown({})).toBe(undefined);
    const bad = { accessToken: `tdm_${'A'.repeat(48)}` };
    expect(await app.call(face, 'products.get', { productId: id, $expand: 'organization' }, bad)).toMatchObject({ status: 401 });
    expect(await app.call(face, 'products.get', { productId: id }, bad)).toMatchObject({ ok: true });
  });
});

describe('streams', () => {
  const STREAMS = { '/messages/listen': 'chat.channelEvents', '/notifications/listen': 'notifications.events' };
  it.each(Object.entries(STREAMS))('%s opens for a key with a scope for %s, by header and by ticket', async (path, name) => {
    const ann = await app.signUp();
    for (const scopes of [[name], ['*:read'], [`${name.split('.')[0]}.*`]]) {
      const { credentials } = await makeKey(ann, { scopes });
      await (await openStream(app.url, path, credentials)).close();
      if (scopes[0] === name) continue;
      const { ticket } = await app.rest('POST', `${path}/tickets`, {}, credentials).expect<{ ticket: string }>(201);
      await (await openStream(app.url, `${path}?ticket=${ticket}`)).close();
    }
    const { credentials } = await makeKey(ann, {
      scopes: ['products.*', `${path.includes('chat') ? 'chat' : 'notifications'}.list`],
    });
    expect(await refusalOf(app.url, path, credentials)).toMatchObject({
      status: 403,
      body: { error: { message: NOT_ALLOWED.message } },
    });
  });

  it('a key that may only read hears a channel, and can neither post, nor mark it read, nor seem to type', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { id: channelId } = await openChannel(ann, [bob]);
    const { credentials } = await makeKey(ann, { scopes: ['*:read'] });
    await using stream = await openStream(app.url, `/messages/listen?channelId=${channelId}`, credentials);
    await stream.next('subscribed');
    const { id: messageId } = await say(bob, channelId);
    await stream.next('message.created');
    const refused = { message: NOT_ALLOWED.message, errorCode: 'keys.notAllowed' };
    stream.send({ type: 'message.create', channelId, content: 'Hi', clientId: 'c1' });
    expect(await stream.next('error')).toMatchObject({ ...refused, clientId: 'c1' });
    for (const frame of [
      { type: 'read', channelId, messageId },
      { type: 'typing', channelId },
    ]) {
      stream.send(frame);
      expect(await stream.next('error')).toMatchObject(refused);
    }
    const writing = await makeKey(ann, { scopes: ['*:read', 'chat.createMessage'] });
    await using writer = await openStream(app.url, '/messages/listen', writing.credentials);
    writer.send({ type: 'message.create', channelId, content: 'Hi', clientId: 'c2' });
    await writer.next('ack');
    expect(
      await stream.next('message.created', ({ message }) => (message as { content: string }).content === 'Hi'),
    ).toBeDefined();
  });

  it('a socket at /trpc takes a key as connection parameter, for what its scopes name', async () => {
    const ann = await app.signUp();
    const { key } = await makeKey(ann, { scopes: ['notifications.*:read'] });
    await using socket = await openStream(app.url, '/trpc?connectionParams=1');
    socket.send({ method: 'connectionParams', data: { Authorization: `Bearer ${key}` } });
    const call = async (method: string, path: string, input: object, id: number) => {
      socket.send({ id, method, params: { path, input } });
      await expect.poll(() => socket.frames.find((frame) => frame['id'] === id)).toBeDefined();
      const { error } = socket.frames.find((frame) => frame['id'] === id) as { error?: { message: string } };
      return error?.message;
    };
    expect(await call('query', 'notifications.unreadCount', { identityId: ann.id }, 1)).toBe(undefined);
    expect(await call('subscription', 'notifications.events', {}, 2)).toBe(undefined);
    expect(await call('query', 'identities.get', { identityId: ann.id }, 3)).toBe(NOT_ALLOWED.message);
    expect(await call('subscription', 'chat.channelEvents', { channelId: NO_ID }, 4)).toBe(NOT_ALLOWED.message);
  });
});
