import { randomUUID } from 'node:crypto';
import { fixture, startTestServer, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';
import type { QueuedMail } from '../mail/queued-mail.js';
import { createIdentityOutbox } from './identity-outbox.js';
import { identityModel, type IdentityRecord } from './identity.model.js';

const app = fixture(startTestServer);

const identities = () => app.storage.model(identityModel).collection;
const newMail = ({ email }: Person) => ({ id: randomUUID(), template: 'deactivated' as const, to: email });
/** Puts a mail where a change of the identity puts it. */
async function put({ id }: Person, mail: object): Promise<void> {
  const filter: object = { _id: id };
  await identities().updateOne(filter, { $push: { outbox: mail } as object, $set: { outboxAt: app.clock.now() } });
}
async function leftOf({ id }: Person): Promise<Pick<IdentityRecord, 'outbox' | 'outboxAt'>> {
  const filter: object = { _id: id };
  return (await identities().findOne(filter, { projection: { _id: 0, outbox: 1, outboxAt: 1 } })) as unknown as IdentityRecord;
}
/** The pass that takes what was left behind, when it is old enough. */
async function relayLeft(): Promise<void> {
  app.clock.advance(30_000);
  await app.tandem.services.identities.relayMails();
}
const NONE = { outbox: [], outboxAt: null };

/** An outbox whose mails are queued by `enqueue` of the server, and something happens right after, or before. */
function outboxWith(afterEnqueue: () => Promise<void>, beforeEnqueue = () => Promise.resolve()) {
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (_: object, text: string) => void warnings.push(text) };
  const { mails } = app.tandem.services;
  const outbox = createIdentityOutbox({
    storage: app.storage,
    log,
    mails: {
      async enqueue(given: readonly QueuedMail[]) {
        await beforeEnqueue();
        await mails.enqueue(given);
        await afterEnqueue();
      },
    },
  });
  return { ...outbox, warnings };
}

it('a mail added while others are being queued stays until it is queued itself', async () => {
  const ann = await app.signUp();
  const [first, second] = [newMail(ann), newMail(ann)];
  await put(ann, first);
  const { relay } = outboxWith(() => put(ann, second));

  await relay(ann.id);
  const left = await leftOf(ann);
  expect(left.outbox).toEqual([second]);
  expect(left.outboxAt).toBeInstanceOf(Date);

  await relayLeft();
  expect(await leftOf(ann)).toEqual(NONE);
  await app.tandem.services.mails.work();
  expect(app.mail.count(ann.email)).toBe(2);
});

it('a mail that its own call is queueing goes out once, also if a pass looks for what was left at that moment', async () => {
  const ann = await app.signUp();
  await put(ann, newMail(ann));
  const { mails } = app.tandem.services;
  const nothing = () => Promise.resolve();
  const own = outboxWith(nothing);
  const pass = outboxWith(nothing, async () => {
    await own.relay(ann.id);
    await mails.work();
  });
  await pass.relayAll();
  await own.relay(ann.id);
  await mails.work();
  expect(app.mail.count(ann.email)).toBe(1);
});

it('a mail stays while it is unknown whether it was queued, and is queued by the next pass', async () => {
  const ann = await app.signUp();
  const mail = newMail(ann);
  await put(ann, mail);
  const { relay, warnings } = outboxWith(() => Promise.reject(new Error('the store is away')));
  await relay(ann.id);
  expect(warnings).toEqual(['mails about a change were not queued; the next pass retries']);
  expect((await leftOf(ann)).outbox).toEqual([mail]);
  await relayLeft();
  expect(await leftOf(ann)).toEqual(NONE);
});

it('a mail that was sent before it was known to be queued is sent again with the same Message-ID', async () => {
  const ann = await app.signUp();
  await put(ann, newMail(ann));
  const { mails } = app.tandem.services;
  const { relay } = outboxWith(async () => {
    await mails.work();
    throw new Error('the store is away');
  });
  await relay(ann.id);
  await relayLeft();
  await mails.work();
  const ids = app.mail.mails.flatMap(({ to, messageId }) => (to === ann.email ? messageId : []));
  expect(ids).toEqual([ids[0], ids[0]]);
});

it('mails of an identity deleted meanwhile are queued too, once', async () => {
  const ann = await app.signUp();
  const mail = newMail(ann);
  await put(ann, mail);
  await app.storage.model(identityModel).deleteOne({ _id: ann.id });
  await relayLeft();
  expect(await leftOf(ann)).toEqual(NONE);
  await app.tandem.services.mails.work();
  expect(app.mail.count(ann.email)).toBe(1);
});

it('an identity without mails is not written to, and queues none', async () => {
  const ann = await app.signUp();
  const calls: number[] = [];
  const { relay } = outboxWith(async () => void calls.push(1));
  await relay(ann.id);
  await relay(randomUUID());
  expect(calls).toEqual([]);
});
