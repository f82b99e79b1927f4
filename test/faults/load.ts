import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { PASSWORD, type RestAnswer, type ServerProcess } from '@tandem/testing';
import { expect } from 'vitest';

/** Every request is answered by then, in milliseconds (decisions T4): its deadline, and what a busy machine adds. */
export const ANSWERED_MS = 18_000;
/** A refresh token whose answer was lost is repeated within this time, in milliseconds: later it counts as stolen (decisions A6). */
const REPEATED_MS = 8000;
/** Between two tries at a server that is not there, in milliseconds. */
const AWAY_MS = 50;
const PATIENCE_MS = 60_000;
/** Variants that are made together. */
const BATCH = 5;
const ADMIN = { email: 'admin@example.org', password: PASSWORD };
/** What a server needs for the load. */
export const LOAD_ENVIRONMENT = { BOOTSTRAP_ADMIN_EMAIL: ADMIN.email, BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password };

interface Tokens {
  id: string;
  accessToken: string;
  refreshToken: string;
}

export interface Load extends AsyncDisposable {
  /** Waits until so many more requests were acknowledged. @throws Error when one was answered as it may not be, or after a minute */
  acknowledged(count: number): Promise<void>;
  /** Ends the load and waits for what is under way. */
  stop(): Promise<void>;
  /** The statuses that requests were answered with beside those of success, each once; 0 is no answer at all. */
  refusals(): number[];
  /** The longest that a request took, in milliseconds. */
  slowest(): number;
  /** Looks whether all that was acknowledged is there, and nothing is half made or made twice. */
  verify(): Promise<void>;
}

/** What somebody reads. @throws Error when it is not answered 200 */
function read<Body>(server: ServerProcess, { accessToken }: Tokens, path: string): Promise<Body> {
  return server.rest('GET', path, undefined, { accessToken }).expect<Body>(200);
}
function signIn(server: ServerProcess, email: string): Promise<Tokens> {
  return server.rest('POST', '/auth/login', { email, password: PASSWORD }).expect<Tokens>(200);
}

/** What a server has failed by in such a way that it answered 500: nothing, where each outage is known for one. */
export function failuresOf({ lines }: ServerProcess): string[] {
  const failed = new Set(lines.filter(({ status }) => status === 500).map(({ requestId }) => requestId));
  return lines.filter(({ requestId, err }) => err !== undefined && failed.has(requestId)).map((line) => JSON.stringify(line));
}

/**
 * Lets people register, renew their tokens, order, post, read notifications and fill the catalogue, all at once and without end, and remembers
 * what they were told. Every answer is held against the OpenAPI document.
 * @param server whichever serves now
 * @param notify makes unread notifications for somebody and gives their ids
 */
export async function startLoad(
  server: () => ServerProcess,
  { workers = 6, notify }: { workers?: number; notify(receiverId: string): Promise<string[]> },
): Promise<Load> {
  const sent: { status: number; milliseconds: number }[] = [];
  const checks: (() => Promise<void>)[] = [];
  const over = new AbortController();
  const events = new EventEmitter().setMaxListeners(0);

  /** Sends a request. What it was answered, of an answer without a body nothing; undefined when nobody knows whether it was done. */
  async function attempt(method: string, path: string, body?: object, accessToken?: string, headers = {}) {
    const start = performance.now();
    let answer: RestAnswer | undefined;
    try {
      answer = await server().rest(method, path, body, { accessToken, headers });
    } catch (error) {
      // the connection ended with the process; anything else is an answer that is not as documented
      if (!/^(fetch failed|terminated)$/.test((error as Error).message)) throw error;
    }
    sent.push({ status: answer?.status ?? 0, milliseconds: performance.now() - start });
    if (!answer) await delay(AWAY_MS);
    if (!answer || answer.status >= 500) return undefined;
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    events.emit('acknowledged');
    return { ...(answer.body as (Tokens & { seq: number }) | undefined) };
  }

  const admin = await signIn(server(), ADMIN.email);
  const goods = { name: 'Tea', description: '', price: { amount: 2.5, currency: 'EUR' } };
  const { id: productId } = await server().rest('POST', '/products', goods, admin).expect<Tokens>(201);

  async function register(): Promise<void> {
    const email = `${crypto.randomUUID()}@example.org`;
    const known = await attempt('POST', '/auth/register', { email, password: PASSWORD });
    checks.push(async function isRegistered() {
      if (!known) await server().rest('POST', '/auth/register', { email, password: PASSWORD });
      await signIn(server(), email);
    });
  }

  async function fillCatalogue(): Promise<void> {
    const variants = Array.from({ length: BATCH }, () => ({ title: crypto.randomUUID() }));
    const known = await attempt('POST', `/product/${productId}/variants/bulk`, variants, admin.accessToken);
    const filter = encodeURIComponent(`title in (${variants.map(({ title }) => `'${title}'`).join(', ')})`);
    checks.push(async function areAllThereOrNone() {
      const found = await read<{ total: number }>(server(), admin, `/products/${productId}/variants?$top=0&$filter=${filter}`);
      expect(known ? [BATCH] : [0, BATCH]).toContain(found.total);
    });
  }

  async function createWorker(): Promise<() => Promise<void>> {
    const email = `${crypto.randomUUID()}@example.org`;
    await server().rest('POST', '/auth/register', { email, password: PASSWORD }).expect(201);
    const me = await signIn(server(), email);
    const channel = await server().rest('POST', '/channels', { name: 'Tea', ownerId: me.id }, me).expect<Tokens>(201);
    const unread = await notify(me.id);
    const reads = { all: unread.length, done: 0, unknown: 0 };
    const orders = new Map<string, { body: object; id: string | undefined }>();
    const messages = new Map<string, number | undefined>();
    let lostSince: number | undefined;

    async function renew(): Promise<void> {
      const isTooLate = lostSince !== undefined && Date.now() - lostSince > REPEATED_MS;
      const tokens = isTooLate
        ? await attempt('POST', '/auth/login', { email, password: PASSWORD })
        : await attempt('POST', '/auth/token/refresh', { refreshToken: me.refreshToken });
      if (tokens) Object.assign(me, tokens, { id: me.id });
      lostSince = tokens ? undefined : (lostSince ?? Date.now());
    }
    async function order(): Promise<void> {
      const key = crypto.randomUUID();
      const body = { identityId: me.id, items: [{ productId, quantity: 1 + orders.size }] };
      const known = await attempt('POST', '/orders', body, me.accessToken, { 'idempotency-key': key });
      orders.set(key, { body, id: known?.id });
    }
    async function post(): Promise<void> {
      const content = crypto.randomUUID();
      const known = await attempt('POST', '/messages', { channelId: channel.id, senderId: me.id, content }, me.accessToken);
      messages.set(content, known?.seq);
    }
    async function markRead(): Promise<void> {
      const id = unread.pop();
      if (id === undefined) return;
      const known = await attempt('POST', `/notifications/${id}/read`, undefined, me.accessToken);
      reads[known ? 'done' : 'unknown'] += 1;
    }

    checks.push(
      async function tokensAreGood() {
        const isTooLate = lostSince !== undefined && Date.now() - lostSince > REPEATED_MS;
        if (!isTooLate) await server().rest('POST', '/auth/token/refresh', { refreshToken: me.refreshToken }).expect(200);
      },
      async function ordersAreThereOnce() {
        const now = await signIn(server(), email);
        for (const [key, { body, id }] of orders) {
          const headers = { 'idempotency-key': key };
          const again = await server()
            .rest('POST', '/orders', body, { ...now, headers })
            .expect<Tokens>(201);
          expect(again.id).toBe(id ?? again.id);
        }
        const { total } = await read<{ total: number }>(server(), now, `/orders?identityId=${me.id}&$top=0`);
        expect(total).toBe(orders.size);
      },
      async function messagesAreThereOnce() {
        const now = await signIn(server(), email);
        const found: { seq: number; content: string }[] = [];
        let next: string | undefined = '';
        while (next !== undefined) {
          const path: string = `/channels/${channel.id}/messages?$top=100${next && `&$nextToken=${encodeURIComponent(next)}`}`;
          const page: { value: typeof found; nextToken?: string } = await read(server(), now, path);
          found.push(...page.value);
          next = page.nextToken;
        }
        const seqs = new Map(found.map(({ content, seq }) => [content, seq]));
        expect([seqs.size, new Set(seqs.values()).size]).toEqual([found.length, found.length]);
        for (const [content, seq] of messages) if (seq !== undefined) expect(seqs.get(content)).toBe(seq);
      },
      async function notificationsAreRead() {
        const now = await signIn(server(), email);
        const { unread: left } = await read<{ unread: number }>(server(), now, `/notifications/identities/${me.id}/unread-count`);
        expect(left).toBeLessThanOrEqual(reads.all - reads.done);
        expect(left).toBeGreaterThanOrEqual(reads.all - reads.done - reads.unknown);
      },
    );
    const deeds = [renew, register, order, post, markRead, fillCatalogue, post];
    return async function work() {
      for (let turn = 0; !over.signal.aborted; turn++) await deeds[turn % deeds.length]?.();
    };
  }

  const prepared = await Promise.all(Array.from({ length: workers }, createWorker));
  const working = Promise.all(prepared.map((work) => work()));
  const failed = working.then(() => {});
  failed.catch(() => {});
  async function stop(): Promise<void> {
    over.abort();
    await failed;
  }
  return {
    async acknowledged(count) {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      for (let n = 0; n < count; n++) await Promise.race([once(events, 'acknowledged', { signal }), failed]);
    },
    stop,
    refusals: () => [...new Set(sent.map(({ status }) => status).filter((status) => status < 200 || status > 299))],
    slowest: () => Math.max(...sent.map(({ milliseconds }) => milliseconds)),
    async verify() {
      expect(checks.length).toBeGreaterThan(workers * 4);
      for (const check of checks) await check();
    },
    [Symbol.asyncDispose]: () => stop().catch(() => {}),
  };
}
