import { PATIENCE, fixture, startTestServer, type Person } from '@tandem/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOrganization } from '../../test/people.js';
import { isSignedBy, orderEvent, startReceiver, type WebhookReceiver, sendNoEvents } from '../../test/webhook-receiver.js';
import { Webhook as Verifier } from 'standardwebhooks';
import type { Delivery } from './deliveries.schemas.js';
import { webhookModel } from './webhook.model.js';
import type { Webhook, WebhookWithSecret } from './webhooks.schemas.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const app = fixture(() =>
  startTestServer({
    webhooks: { privateAddresses: true, pollMs: 3_600_000, timeoutMs: 2000 },
    lifetimes: { accessTokenExpireTime: '90d', refreshTokenExpireTime: '90d', sessionMaxTime: '200d' },
  }),
);
const admin = fixture(() => app.signUpAdmin());
const owner = fixture(() => app.signUp());
let organizationId: string;
beforeAll(async () => {
  await sendNoEvents(app);
  organizationId = await createOrganization(owner);
});

let receiver: WebhookReceiver;
const made: Webhook[] = [];
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(made.splice(0).map(({ id }) => admin.rest('DELETE', `/webhooks/${id}`)));
  await receiver[Symbol.asyncDispose]();
});

async function create(person: Person, fields: object = {}): Promise<WebhookWithSecret & { secret: string }> {
  const body = { url: receiver.url, types: ['order.*'], ...fields };
  const webhook = await person.rest('POST', '/webhooks', body).expect<WebhookWithSecret & { secret: string }>(201);
  made.push(webhook);
  return webhook;
}
const service = () => app.tandem.services.webhooks;
async function dispatch(...events: Parameters<typeof orderEvent>[0][]): Promise<string[]> {
  const all = events.map((fields) => orderEvent({ at: app.clock.now().toISOString(), ...fields }));
  await service().dispatch(all);
  await service().sending.work();
  return all.map(({ id }) => id);
}
async function advance(milliseconds: number): Promise<void> {
  app.clock.advance(milliseconds);
  await service().sending.work();
}
async function deliveriesOf({ id }: Webhook): Promise<Delivery[]> {
  const { data } = await admin.rest('GET', `/webhooks/${id}/deliveries?limit=50`).expect<{ data: Delivery[] }>(200);
  return data;
}
const read = ({ id }: Webhook) => admin.rest('GET', `/webhooks/${id}`).expect<Webhook>(200);

describe('an event', () => {
  it('is the body of a message that the package of Standard Webhooks verifies', async () => {
    const { secret, id } = await create(admin);
    const event = orderEvent({ organizationId });
    await service().dispatch([event]);
    await service().sending.work();
    const [message] = receiver.received;
    if (!message) throw new Error('nothing arrived');
    const { headers, body } = message;
    expect(new Verifier(secret).verify(body, headers)).toEqual(event);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': event.id });
    expect(() => new Verifier(secret).verify(`${body} `, headers)).toThrow('No matching signature found');
    const [delivery] = await deliveriesOf({ id } as Webhook);
    expect(delivery).toMatchObject({ eventId: event.id, eventType: 'order.created', status: 'delivered', attempts: 1 });
    expect(delivery).toMatchObject({ responseStatus: 204, error: null, nextAttemptAt: null });
    expect(delivery?.durationMs).toBeGreaterThanOrEqual(0);
  });

  it('is sent to the webhooks that name its type, its kind or all, and to no others', async () => {
    for (const types of [['order.created'], ['order.*', 'product.created'], ['*'], ['order.updated', 'member.*']])
      await create(admin, { types, description: types.join() });
    const [id] = await dispatch({});
    expect(receiver.ids()).toEqual([id, id, id]);
  });

  it('is sent to webhooks of its organization and of none, and to no other organization', async () => {
    const other = await createOrganization(owner);
    const mine = await create(owner, { organizationId });
    const theirs = await create(owner, { organizationId: other });
    const all = await create(admin);
    const [of, ofOther, ofNone] = await dispatch({ organizationId }, { organizationId: other }, {});
    const idsOf = async (webhook: Webhook) => (await deliveriesOf(webhook)).map(({ eventId }) => eventId).toSorted();
    expect(await idsOf(mine)).toEqual([of]);
    expect(await idsOf(theirs)).toEqual([ofOther]);
    expect(new Set(await idsOf(all))).toEqual(new Set([of, ofOther, ofNone]));
  });

  it('shows private metadata to webhooks of admins alone', async () => {
    const mine = await create(owner, { organizationId });
    const all = await create(admin);
    await dispatch({ organizationId, data: { id: 'x', privateMetadata: { margin: 3 }, metadata: { a: 1 } } });
    const dataBy = (secret: string) => receiver.received.find((message) => isSignedBy(secret, message))?.event['data'];
    expect(dataBy(mine.secret)).toEqual({ id: 'x', metadata: { a: 1 } });
    expect(dataBy(all.secret)).toEqual({ id: 'x', privateMetadata: { margin: 3 }, metadata: { a: 1 } });
  });

  it('is sent once, however often it is dispatched, also by two instances at once', async () => {
    await using other = await startTestServer({ clock: app.clock, webhooks: { privateAddresses: true, pollMs: 3_600_000 } });
    await create(admin);
    const events = Array.from({ length: 20 }, () => orderEvent());
    const services = [service(), other.tandem.services.webhooks];
    await Promise.all([...services, ...services].map((one) => one.dispatch(events)));
    await Promise.all(services.map(({ sending }) => sending.work()));
    await service().dispatch(events);
    await service().sending.work();
    expect(receiver.ids().toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  });

  it('about one subject comes after those before it', async () => {
    await create(admin);
    const subject = { type: 'order', id: 'one' };
    receiver.answer((response) => setTimeout(() => response.writeHead(204).end(), 20 * Math.random()));
    const ids = await dispatch(
      ...Array.from({ length: 12 }, (_, n) => ({ subject: n % 3 === 0 ? { type: 'order', id: `${n}` } : subject })),
    );
    const ofOne = ids.filter((_, n) => n % 3 !== 0);
    expect(receiver.ids().filter((id) => ofOne.includes(id))).toEqual(ofOne);
    expect(receiver.received).toHaveLength(12);
  });

  it('is not sent to a webhook that was deleted, not even if it waits', async () => {
    const webhook = await create(admin);
    receiver.answer(500);
    await dispatch({});
    await admin.rest('DELETE', `/webhooks/${webhook.id}`).expect(204);
    await dispatch({});
    await advance(MINUTE);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a message that is not taken', () => {
  it.each([300, 302, 400, 404, 500, 503])('with %i is sent again, under the same id and with a new time', async (status) => {
    const { secret, ...webhook } = await create(admin);
    receiver.answer((response) => response.writeHead(status, { location: receiver.url }).end('no'));
    const [id] = await dispatch({});
    expect(receiver.received).toHaveLength(1);
    expect(await deliveriesOf(webhook)).toMatchObject([
      { status: 'pending', responseStatus: status, error: `answered ${status}` },
    ]);
    receiver.answer(200);
    await advance(SECOND);
    expect(receiver.received).toHaveLength(1);
    await advance(5 * SECOND);
    const [first, second] = receiver.received;
    expect(receiver.ids()).toEqual([id, id]);
    expect(Number(second?.headers['webhook-timestamp'])).toBeGreaterThan(Number(first?.headers['webhook-timestamp']));
    expect(receiver.received.every((message) => isSignedBy(secret, message))).toBe(true);
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  });

  it('is sent again after 5 s, 30 s, 2 min, 15 min, 1 h, 6 h and 24 h, and then given up', async () => {
    const webhook = await create(admin);
    receiver.answer(500);
    await dispatch({});
    const waits = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR];
    for (const [n, wait] of waits.entries()) {
      const [{ nextAttemptAt, lastAttemptAt } = {} as Delivery] = await deliveriesOf(webhook);
      expect(Math.abs(Date.parse(nextAttemptAt ?? '') - Date.parse(lastAttemptAt ?? '') - wait)).toBeLessThan(4000);
      // a lease is judged by the store's time, which is read at another moment
      await advance(wait + 5 * SECOND);
      expect(receiver.received).toHaveLength(n + 2);
    }
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'failed', attempts: 8, nextAttemptAt: null }]);
    await advance(24 * HOUR);
    expect(receiver.received).toHaveLength(8);
  });

  it('by a receiver that is away for an hour arrives once it is back', async () => {
    const webhook = await create(admin);
    receiver.answer((response) => response.destroy());
    const ids: string[] = [];
    for (let minute = 0; minute < 60; minute += 5) {
      ids.push(...(await dispatch({}, {})));
      await advance(5 * MINUTE);
    }
    const before = receiver.received.length;
    receiver.answer(204);
    for (let minute = 0; minute < 80; minute += 5) await advance(5 * MINUTE);
    expect(receiver.ids().slice(before).toSorted()).toEqual(ids.toSorted());
    expect((await deliveriesOf(webhook)).every(({ status }) => status === 'delivered')).toBe(true);
  });

  it('in time is sent again, and what is never ended counts as answered', async () => {
    const webhook = await create(admin);
    receiver.answer(() => {});
    await dispatch({});
    expect(await deliveriesOf(webhook)).toMatchObject([
      { responseStatus: null, error: 'no answer: ETIMEDOUT', status: 'pending' },
    ]);
    receiver.answer((response) => response.writeHead(200).write('…'));
    await advance(5 * SECOND);
    expect(await deliveriesOf(webhook)).toMatchObject([{ responseStatus: 200, error: null, status: 'delivered' }]);
  });

  it('by a receiver that cuts off, switches protocols or sends megabytes costs little', async () => {
    const webhook = await create(admin);
    let sent = 0;
    receiver.answer(({ socket }) => socket?.destroy());
    await dispatch({});
    receiver.answer(({ socket }) => socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'));
    await advance(5 * SECOND);
    expect(await deliveriesOf(webhook)).toMatchObject([{ attempts: 2, status: 'pending', responseStatus: null }]);
    receiver.answer((response) => {
      response.writeHead(200);
      const piece = Buffer.alloc(64 * 1024);
      const more = (): void => {
        while (!response.destroyed && response.write(piece)) sent += piece.length;
      };
      response.on('drain', more);
      more();
    });
    await advance(30 * SECOND);
    expect(await deliveriesOf(webhook)).toMatchObject([{ attempts: 3, status: 'delivered', responseStatus: 200 }]);
    // what the buffers of both systems hold
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });
});

describe('a webhook', () => {
  it('signs with the former secret too for a day after it was rotated', async () => {
    const { secret: first, id } = await create(admin);
    const rotate = async () => (await admin.rest('POST', `/webhooks/${id}/rotate-secret`).expect<{ secret: string }>(200)).secret;
    const second = await rotate();
    await dispatch({});
    const signedBy = (secret: string) => receiver.received.map((message) => isSignedBy(secret, message));
    expect([signedBy(first), signedBy(second)]).toEqual([[true], [true]]);
    expect(receiver.received[0]?.headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    await advance(DAY - MINUTE);
    await dispatch({});
    expect(signedBy(first)).toEqual([true, true]);
    await advance(2 * MINUTE);
    await dispatch({});
    expect([signedBy(first), signedBy(second)]).toEqual([
      [true, true, false],
      [true, true, true],
    ]);
  });

  it('signs with few secrets, whoever rotates them at once, and the newest is among those answered', async () => {
    const { id } = await create(admin);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => admin.rest('POST', `/webhooks/${id}/rotate-secret`).expect<{ secret: string }>(200)),
    );
    await dispatch({});
    const [message] = receiver.received;
    const signing = answers.filter(({ secret }) => message && isSignedBy(secret, message));
    expect(signing).toHaveLength(5);
    expect(message?.headers['webhook-signature'].split(' ')).toHaveLength(5);
  });

  it('whose receiver is gone is disabled at once, with a mail to who made it and an event', async () => {
    const witness = await startReceiver();
    await create(admin, { url: witness.url, types: ['webhook.disabled'] });
    const webhook = await create(owner, { organizationId, url: `${receiver.url}?secret=1` });
    receiver.answer(410);
    await dispatch({ organizationId }, { organizationId });
    expect(receiver.received.length).toBeGreaterThan(0);
    const { disabledAt } = await read(webhook);
    expect(disabledAt).not.toBeNull();
    expect((await deliveriesOf(webhook)).map(({ status }) => status)).toEqual(['failed', 'failed']);
    const mail = await app.mail.next(owner.email, ({ subject }) => subject === 'Your webhook is disabled');
    expect(mail.text).toContain(
      `the webhook for ${new URL(receiver.url).host}, which the account of ${owner.email} made, is disabled`,
    );
    expect(mail.text).not.toContain('secret=1');
    await service().sending.work();
    expect(witness.received.map(({ event }) => event)).toMatchObject([
      {
        type: 'webhook.disabled',
        subject: { type: 'webhook', id: webhook.id },
        organizationId,
        data: { disabledAt, url: new URL(receiver.url).origin },
      },
    ]);
    expect(witness.received[0]?.body).not.toContain('secret=1');
    expect(witness.received[0]?.body).not.toContain('whsec_');
    await witness[Symbol.asyncDispose]();
    // and gets nothing until it is enabled
    const seen = receiver.received.length;
    receiver.answer(204);
    await dispatch({ organizationId });
    expect(receiver.received).toHaveLength(seen);
    await owner.rest('PATCH', `/webhooks/${webhook.id}`, { disabledAt: null }).expect(200);
    const [id] = await dispatch({ organizationId });
    expect(receiver.ids().slice(seen)).toEqual([id]);
  });

  it('is disabled after three days without a success, and not if there was one', async () => {
    const witness = await startReceiver();
    const [failing, fine] = [await create(admin), await create(admin, { url: witness.url })];
    receiver.answer(500);
    witness.answer(500);
    await dispatch({});
    await advance(2 * DAY);
    witness.answer(200);
    await dispatch({});
    await advance(DAY - MINUTE);
    expect((await read(failing)).disabledAt).toBeNull();
    await advance(2 * MINUTE);
    expect((await read(failing)).disabledAt).not.toBeNull();
    expect((await read(fine)).disabledAt).toBeNull();
    await witness[Symbol.asyncDispose]();
    // begins anew
    await admin.rest('PATCH', `/webhooks/${failing.id}`, { disabledAt: null }).expect(200);
    await dispatch({});
    expect((await read(failing)).disabledAt).toBeNull();
  });

  it('is told of as disabled by another process, if its own died before', async () => {
    const { id } = await create(owner, { organizationId });
    const { collection } = app.storage.model(webhookModel);
    const disabled = { disabledAt: app.clock.now(), disablingId: orderEvent().id };
    await collection.updateOne({ _id: id } as object, { $set: disabled });
    const count = app.mail.count(owner.email);
    await service().sending.work();
    expect(app.mail.count(owner.email)).toBe(count);
    await advance(MINUTE);
    await app.tandem.services.mails.work();
    await service().sending.work();
    await app.tandem.services.mails.work();
    expect(app.mail.count(owner.email)).toBe(count + 1);
  });

  it('is tested by an event of its own', async () => {
    const webhook = await create(owner, { organizationId, types: ['product.created'] });
    const delivery = await owner.rest('POST', `/webhooks/${webhook.id}/test`).expect<Delivery>(201);
    await receiver.arrived(1);
    expect(receiver.received[0]?.event).toMatchObject({
      type: 'webhook.test',
      actor: { type: 'identity', id: owner.id },
      data: {},
    });
    await expect
      .poll(async () => (await deliveriesOf(webhook)).map(({ id, status }) => ({ id, status })), PATIENCE)
      .toEqual([{ id: delivery.id, status: 'delivered' }]);
  });

  it('gets a delivery again, under the same id, whatever became of it', async () => {
    const webhook = await create(admin);
    const [eventId] = await dispatch({});
    const [{ id } = {} as Delivery] = await deliveriesOf(webhook);
    await app.storage.sweep();
    await advance(29 * DAY);
    await app.storage.sweep();
    const again = await admin.rest('POST', `/webhooks/${webhook.id}/deliveries/${id}/redeliver`).expect<Delivery>(200);
    expect(again).toMatchObject({ id, status: 'pending' });
    await service().sending.work();
    expect(receiver.ids()).toEqual([eventId, eventId]);
    expect(receiver.received[0]?.body).toBe(receiver.received[1]?.body);
    expect(await deliveriesOf(webhook)).toMatchObject([{ id, status: 'delivered', attempts: 2 }]);
    await advance(2 * DAY);
    await app.storage.sweep();
    expect(await deliveriesOf(webhook)).toEqual([]);
  });
});
