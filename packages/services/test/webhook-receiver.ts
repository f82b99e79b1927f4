import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { TestServer } from '@tandem/testing';
import { followerModel } from '../src/events/event-followers.js';
import type { DomainEvent } from '../src/events/events.schemas.js';

/** A message as it arrived. */
export interface ReceivedMessage {
  headers: IncomingHttpHeaders & { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string };
  body: string;
  event: Record<string, unknown> & { id: string; type: string };
}

type Answer = number | ((response: ServerResponse) => void);

/** A receiver of webhooks on loopback. */
export interface WebhookReceiver extends AsyncDisposable {
  url: string;
  received: readonly ReceivedMessage[];
  /** The ids of the events that have arrived, in order. */
  ids(): string[];
  /** How it answers from now on: with a status, or by itself. Default 204. */
  answer(how: Answer): void;
  /** Keeps answers back until the returned function is called. */
  hold(): () => void;
  /** Waits for so many messages in all. */
  arrived(count: number): Promise<void>;
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedMessage[] = [];
  const waiters = new Set<() => void>();
  let how: Answer = 204;
  let held: Promise<void> | undefined;

  async function receive(request: http.IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const headers = request.headers as ReceivedMessage['headers'];
    received.push({ headers, body, event: JSON.parse(body) as ReceivedMessage['event'] });
    for (const wake of waiters) wake();
    await held;
    if (typeof how === 'function') how(response);
    else response.writeHead(how).end();
  }
  // a sender that hangs up is no failure
  const server = http.createServer((request, response) => void receive(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    ids: () => received.map(({ event }) => event.id),
    answer(given) {
      how = given;
    },
    hold() {
      let release = (): void => {};
      held = new Promise((resolve) => (release = resolve));
      return () => {
        held = undefined;
        release();
      };
    },
    arrived: (count) =>
      new Promise((resolve) => {
        function look(): void {
          if (received.length < count) return;
          waiters.delete(look);
          resolve();
        }
        waiters.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Whether one of the signatures of a message is by this secret, as of the time that the message names. */
export function isSignedBy(secret: string, { headers, body }: ReceivedMessage): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  return headers['webhook-signature'].split(' ').includes(new Webhook(secret).sign(headers['webhook-id'], at, body));
}

/** An event of an order, as the event log gives it. */
export function orderEvent(fields: Partial<DomainEvent> = {}): DomainEvent {
  return {
    id: randomUUID(),
    type: 'order.created',
    at: new Date().toISOString(),
    subject: { type: 'order', id: randomUUID() },
    organizationId: null,
    actor: { type: 'identity', id: randomUUID() },
    data: { status: 'pending', total: { amount: 12.5, currency: 'EUR' } },
    ...fields,
  };
}

/** Lets nobody follow the log of events for webhooks: a test that sends events itself is alone then. */
export async function sendNoEvents({ storage }: Pick<TestServer, 'storage'>): Promise<void> {
  const forever = new Date('9999-01-01');
  const state = { cursor: null, owner: 'nobody', leaseUntil: forever, createdAt: forever, updatedAt: forever };
  await storage.model(followerModel).collection.updateOne({ _id: 'webhooks' } as object, { $set: state }, { upsert: true });
}
