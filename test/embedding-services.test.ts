import { router } from '@tandem/core';
import { SERVICE_NAMES, createTandem, defineService, type AnyService, type ServiceName, type Tandem } from '@tandem/services';
import { openStorage } from '@tandem/storage';
import { TEST_SECRETS, openStream, refusalOf, startTestServer, type TestServer } from '@tandem/testing';
import express, { type Express } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, signUp } from './host-application.js';

const authSecrets = TEST_SECRETS;
const UUID = '019c7d2e-5b1a-7c3d-9e4f-0a1b2c3d4e5f';

interface Host {
  app: Express;
  tandem: Tandem;
  close(): Promise<void>;
}

/** Serves only some services. */
async function createHost(uri: string, secrets: typeof authSecrets, services: readonly ServiceName[]): Promise<Host> {
  const storage = await openStorage({ uri });
  const tandem = await createTandem({ storage, authSecrets: secrets, services });
  await storage.ensureIndexes();
  const app = express();
  app.use(tandem.routes(), ...tandem.errorMiddlewares());
  return {
    app,
    tandem,
    async close() {
      await tandem.close();
      await storage.close();
    },
  };
}

describe('a host of some services', () => {
  /** The server with the accounts: another process on the same database. */
  let accounts: TestServer;
  let ann: Awaited<ReturnType<TestServer['signUp']>>;
  beforeAll(async () => {
    accounts = await startTestServer();
    ann = await accounts.signUp();
  });
  afterAll(() => accounts.close());

  /** Questions that a person who signed in elsewhere may ask. */
  const QUESTIONS: { readonly [Name in ServiceName]?: (identityId: string) => string } = {
    auth: (id) => `/auth/${id}/sessions`,
    chat: (id) => `/channels?memberId=${id}`,
    identities: (id) => `/identities/${id}`,
    invitations: () => `/invitations/${UUID}`,
    notifications: (id) => `/notifications/identities/${id}`,
    orders: (id) => `/orders?identityId=${id}`,
    organizations: (id) => `/organizations/members/${id}`,
    people: (id) => `/people/${id}`,
    productVariants: () => `/products/${UUID}/variants`,
    profiles: (id) => `/profiles/identities/${id}`,
  };

  /** A question to a service; without one of its own, its list. */
  function questionTo(name: ServiceName): string {
    return QUESTIONS[name]?.(ann.id) ?? `/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  }

  it.each(SERVICE_NAMES)('has only %s, and nothing of the others', async (name) => {
    const host = await createHost(accounts.mongodbUri, authSecrets, [name]);
    await using listening = await listen(host.app);
    try {
      const { paths } = await host.tandem.openApi({ title: '', description: '', version: '', url: '/' });
      const operations = Object.values(paths as Record<string, Record<string, { operationId: string }>>).flatMap((methods) =>
        Object.values(methods),
      );
      expect(new Set(operations.map(({ operationId }) => operationId.split('.')[0]))).toEqual(new Set([name]));
      const headers = { authorization: `Bearer ${ann.accessToken}` };
      const statuses: string[] = [];
      for (const question of SERVICE_NAMES.map(questionTo)) {
        const { status, body } = await listening.call('GET', question, undefined, headers);
        const isUnknown = status === 404 && (body?.error as { message: string } | undefined)?.message === 'Not Found';
        if (!isUnknown) statuses.push(`${question} ${status}`);
      }
      const expected = { events: 403, invitations: 403, productVariants: 404, webhooks: 403 }[name as string] ?? 200;
      expect(statuses).toEqual([`${questionTo(name)} ${expected}`]);
    } finally {
      await host.close();
    }
  });

  it('has accounts and notifications, and only their stream', async () => {
    const host = await createHost(accounts.mongodbUri, authSecrets, ['auth', 'notifications']);
    await using listening = await listen(host.app);
    listening.server.on('upgrade', host.tandem.handleUpgrades(host.app));
    try {
      const { id, authorization } = await signUp(listening, `${crypto.randomUUID()}@example.org`);
      const credentials = { headers: { authorization } };
      const stream = await openStream(listening.url, '/notifications/listen', credentials);
      await stream.next('ready');
      await host.tandem.services.notifications.notify(id, { kind: 'parcel' });
      expect(await stream.next('notification.created')).toMatchObject({ notification: { kind: 'parcel' } });
      await stream.close();
      expect(await refusalOf(listening.url, '/messages/listen', credentials)).toMatchObject({ status: 404 });
    } finally {
      await host.close();
    }
  });

  it('does not start with services of its own whose name is taken', async () => {
    const storage = await openStorage({ uri: accounts.mongodbUri });
    const named = (name: string) => defineService({ name, description: '', lists: {}, errors: {}, router: () => router({}) });
    const start = (...ownServices: AnyService[]) => createTandem({ storage, authSecrets, ownServices });
    await expect(start(named('orders'))).rejects.toThrow('ownServices: there already is a service "orders"');
    await expect(start(named('teas'), named('teas'))).rejects.toThrow('ownServices: there already is a service "teas"');
    await storage.close();
  });

  it.each([
    ['members', ['members']],
    ['mails', ['mails']],
    ['menu', ['menu', 'menu']],
  ])('does not start with services of its own that create %s, which there already is', async (taken, made) => {
    const storage = await openStorage({ uri: accounts.mongodbUri });
    const ownServices = made.map((name, at) =>
      defineService({
        name: `own${at}`,
        description: '',
        lists: {},
        errors: {},
        create: () => ({ [name]: {} }),
        router: () => router({}),
      }),
    );
    await expect(createTandem({ storage, authSecrets, ownServices })).rejects.toThrow(
      `ownServices: a service creates "${taken}", which there already is`,
    );
    await storage.close();
  });

  it('does not start with a service of its own that names a kind of events, and tells of none', async () => {
    const storage = await openStorage({ uri: accounts.mongodbUri });
    const teas = defineService({
      name: 'teas',
      description: '',
      lists: {},
      tells: ['tea'],
      errors: {},
      router: () => router({}),
    });
    await expect(createTandem({ storage, authSecrets, ownServices: [teas] })).rejects.toThrow(
      'ownServices: there is no lists.tell("tea", …), which `tells` names',
    );
    await storage.close();
  });

  it('does not start with an unknown service', async () => {
    await expect(createHost(accounts.mongodbUri, authSecrets, ['billing' as ServiceName])).rejects.toThrow(
      'services: there is no service "billing"',
    );
  });
});
