import { defineErrors, router, publicRoute, type Identity } from '@tandem/core';
import { FACES, PASSWORD, TEST_SECRETS, databaseOf, fixture, newEmail, openStream, startTestServer } from '@tandem/testing';
import { openStorage, type Storage } from '@tandem/storage';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { valueOf } from '../../test/chat-world.js';
import { createTandem } from '../tandem.js';
import { defineService } from './define-service.js';

const shopErrors = defineErrors('shop', { closed: [409, 'The shop is closed'], unwanted: [422, 'The shop does not want this'] });
const products = z.object({ gtin: z.string().optional(), rank: z.number().int().default(7) });
type Input = Record<string, unknown>;

/** What hooks were asked, in order. */
const asked: { operation: string; input: unknown; identity: Identity | undefined }[] = [];
const note = (call: (typeof asked)[number]) => void asked.push(call);
/** Whether the hooks of reads return their input. */
let areReturning = false;
beforeEach(() => {
  asked.length = 0;
  areReturning = false;
});
const mayReturn = <Given extends object>({ input }: { input: Given }) => (areReturning ? { ...input } : undefined);

const app = fixture(() =>
  startTestServer({
    code: {
      fields: { products },
      before: {
        'orders.create': {
          errors: [shopErrors.closed],
          run(call) {
            note(call);
            const { input } = call;
            const metadata = input.metadata as Input | undefined;
            if (metadata?.['refuse'] === true) throw shopErrors.closed();
            return { ...input, metadata: { ...metadata, channel: 'web' } };
          },
        },
        'products.create'(call) {
          note(call);
          return { ...call.input, gtin: `0${String((call.input as Input).gtin)}` };
        },
        'products.createMany': note,
        'products.list': ({ input }) => ({ ...input, limit: 1 }),
        'auth.register': {
          errors: [shopErrors.unwanted],
          run(call) {
            note(call);
            const { email } = call.input as { email?: string };
            if (email?.endsWith('@blocked.example.org')) throw shopErrors.unwanted();
          },
        },
        'chat.createMessage': {
          errors: [shopErrors.unwanted],
          run(call) {
            note(call);
            if (call.input.content === 'spam') throw shopErrors.unwanted();
            return { ...call.input, content: call.input.content.replace('damn', '****') };
          },
        },
        'chat.markRead': note,
        'orders.get': mayReturn,
        'organizations.get': mayReturn,
      },
    },
  }),
);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

describe.each(FACES)('over %s, a hook', (face) => {
  it('of a creation refuses it by an error of the host, or gives the handler more', async () => {
    const { id: productId } = valueOf(await admin.call(face, 'products.create', { name: 'Tea', description: '' })) as Input;
    const price = { price: { amount: 1, currency: 'EUR' } };
    await admin.call(face, 'products.patch', { productId, ...price });
    const order = { items: [{ productId, quantity: 1 }], identityId: ann.id };
    expect(valueOf(await ann.call(face, 'orders.create', order))).toMatchObject({ metadata: { channel: 'web' } });
    const { identity } = asked.at(-1) ?? {};
    expect(identity).toMatchObject({ id: ann.id, typeId: 'regular' });
    const refused = await ann.call(face, 'orders.create', { ...order, metadata: { refuse: true } });
    expect(refused).toEqual({ ok: false, status: 409, message: 'The shop is closed' });
    // one of somebody else is not asked about
    const count = asked.length;
    expect(await bob.call(face, 'orders.create', order)).toMatchObject({ status: 403 });
    expect(asked).toHaveLength(count);
  });

  it('sees the fields of the host as callers give them, and may change them', async () => {
    const given = { name: 'Tea', description: '', gtin: '1' };
    expect(valueOf(await admin.call(face, 'products.create', given))).toMatchObject({ gtin: '01', rank: 7 });
    expect(asked[0]).toMatchObject({ operation: 'products.create', input: { ...given, rank: 7 } });
    await admin.call(face, 'products.createMany', { products: [given] });
    expect(asked[1]).toMatchObject({ input: { products: [{ gtin: '1' }] } });
    expect(JSON.stringify(asked)).not.toContain('hostFields');
  });

  it('of a list changes its query', async () => {
    const list = valueOf(await admin.call(face, 'products.list', { page: 1, limit: 50 })) as { data: unknown[] };
    expect(list.data).toHaveLength(1);
  });

  it('of a read that returns the input leaves the answer as it is, also what some are shown alone', async () => {
    const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
    const { id: organizationId } = valueOf(await ann.call(face, 'organizations.create', { organization })) as Input;
    const { id: productId } = valueOf(await admin.call(face, 'products.create', { name: 'Tea', description: '' })) as Input;
    const order = { identityId: ann.id, currency: 'EUR', items: [{ productId, quantity: 1, price: 1 }] };
    const { id: orderId } = valueOf(await ann.call(face, 'orders.create', order)) as Input;
    const privateMetadata = { note: 'a' };
    await admin.call(face, 'organizations.patchAsAdmin', { organizationId, privateMetadata });
    await admin.call(face, 'orders.patch', { orderId, privateMetadata });
    for (const [procedure, input, related] of [
      ['orders.get', { orderId, $expand: 'buyer' }, { buyer: { id: ann.id } }],
      ['organizations.get', { organizationId }, {}],
    ] as const)
      for (const person of [admin, ann]) {
        areReturning = false;
        const answer = valueOf(await person.call(face, procedure, input)) as Input;
        expect(answer['privateMetadata']).toEqual(person === admin ? privateMetadata : undefined);
        expect(answer).toMatchObject(related);
        areReturning = true;
        expect(valueOf(await person.call(face, procedure, input))).toEqual(answer);
      }
  });

  it('of a registration, which is public, sees the address as it is compared', async () => {
    const email = ` ${newEmail().toUpperCase()} `;
    const { id } = valueOf(await app.call(face, 'auth.register', { email, password: PASSWORD })) as { id: string };
    expect(asked).toMatchObject([{ operation: 'auth.register', identity: undefined }]);
    expect(asked[0]?.input).toEqual({ email: email.trim().toLowerCase(), password: PASSWORD });
    expect(id).toEqual(expect.any(String));
    const blocked = { email: ' Eve@BLOCKED.example.org', password: PASSWORD };
    const refusal = { ok: false, status: 422, message: 'The shop does not want this' };
    expect(await app.call(face, 'auth.register', blocked)).toEqual(refusal);
    expect(await app.call(face, 'auth.login', blocked)).toMatchObject({ status: 401 });
  });

  it('of a message is asked about members alone', async () => {
    const { id: channelId } = valueOf(await ann.call(face, 'chat.createChannel', { name: 'a', ownerId: ann.id })) as Input;
    const post = (by: typeof ann, content: string) =>
      by.call(face, 'chat.createMessage', { channelId, senderId: by.id, content });
    expect(await post(bob, 'damn')).toMatchObject({ status: 403 });
    expect(asked).toEqual([]);
    expect(valueOf(await post(ann, 'damn'))).toMatchObject({ content: '****' });
    expect(await post(ann, 'spam')).toMatchObject({ status: 422, message: 'The shop does not want this' });
  });
});

it('the stream of messages asks the same hooks, with the same input', async () => {
  const { id: channelId } = valueOf(await ann.call('rest', 'chat.createChannel', { name: 'a', ownerId: ann.id })) as Input;
  await using stream = await openStream(app.url, '/messages/listen', ann.credentials);
  await using stranger = await openStream(app.url, '/messages/listen', bob.credentials);
  const send = (content: string) => ({ type: 'message.create', channelId, content, clientId: content });

  stranger.send(send('damn'));
  expect(await stranger.next('error')).toMatchObject({ clientId: 'damn', errorCode: 'chat.notSubscribed' });
  expect(asked).toEqual([]);

  stream.send(send('damn'));
  const { message } = await stream.next<{ message: { id: string; content: string } }>('ack');
  expect(message.content).toBe('****');
  const input = { channelId, senderId: ann.id, content: 'damn', clientId: 'damn' };
  expect(asked).toMatchObject([{ operation: 'chat.createMessage', input, identity: { id: ann.id } }]);
  expect(Object.keys(asked[0]?.input as object).toSorted()).toEqual(Object.keys(input).toSorted());

  stream.send(send('spam'));
  expect(await stream.next('error')).toMatchObject({ clientId: 'spam', errorCode: 'shop.unwanted' });

  stream.send({ type: 'read', channelId, messageId: message.id });
  stream.send(send('last'));
  await stream.next('ack');
  const read = { channelId, identityId: ann.id, lastReadMessageId: message.id };
  expect(asked.find(({ operation }) => operation === 'chat.markRead')?.input).toEqual(read);
  const state = await ann.rest('GET', `/channels/${String(channelId)}/read-state`).expect<Input>(200);
  expect(state).toMatchObject({ lastReadMessageId: message.id });
});

describe('a host', () => {
  const teas = defineService({
    name: 'teas',
    description: '',
    lists: {},
    errors: {},
    router: () =>
      router({
        brew: publicRoute('POST /teas', { summary: '', failure: 'Failed to create tea' })
          .input(z.strictObject({ grams: z.number() }))
          .output(z.object({ grams: z.number() }))
          .mutation(({ input }) => input),
      }),
  });
  const opened: Storage[] = [];
  afterAll(() => Promise.all(opened.map((storage) => storage.close())));
  async function given() {
    const storage = await openStorage({ uri: databaseOf('hooks') });
    opened.push(storage);
    return { storage, authSecrets: TEST_SECRETS };
  }

  it('gives hooks by names of its operations, those of its own services too, with the types of their inputs', async () => {
    const tandem = await createTandem({
      ...(await given()),
      ownServices: [teas],
      fields: { products },
      before: {
        'teas.brew': ({ input }) => ({ grams: input.grams * 2 }),
        'products.create': ({ input }) => ({ ...input, gtin: input.gtin?.trim(), rank: 1 }),
        // @ts-expect-error -- grams are a number
        'products.patch': ({ input }) => ({ ...input, rank: 'first' }),
      },
    });
    expect(tandem.router).toBeDefined();
    await tandem.close();
  });

  it('does not start with a hook of an operation that it does not have', async () => {
    // @ts-expect-error -- no such operation
    await expect(createTandem({ ...(await given()), before: { 'orders.crate': () => {} } })).rejects.toThrow(
      'before: there is no operation "orders.crate"',
    );
    const before = { 'orders.create': () => {} };
    // @ts-expect-error -- this service is not exposed
    await expect(createTandem({ ...(await given()), services: ['auth'], before })).rejects.toThrow('"orders.create"');
  });
});
