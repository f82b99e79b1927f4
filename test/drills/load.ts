import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { PASSWORD, isCutOff, type RestAnswer, type ServerProcess } from '@tandem/testing';
import { expect } from 'vitest';

/**
 * Every request must be answered within this time, in milliseconds: its deadline, plus the delay of a busy machine
 * (decisions T4).
 */
export const ANSWERED_MS = 18_000;
/**
 * A refresh whose answer was lost is retried within this time, in milliseconds: later the server takes the token for
 * stolen (decisions A6).
 */
const REPEATED_MS = 8000;
/** Interval between attempts while the server is down, in milliseconds. */
const AWAY_MS = 50;
const PATIENCE_MS = 60_000;
/** Variants created in one request. */
const BATCH = 5;
const ADMIN = { email: 'admin@example.org', password: PASSWORD };
/** The server settings that the load needs. */
export const LOAD_ENVIRONMENT = { BOOTSTRAP_ADMIN_EMAIL: ADMIN.email, BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password };

interface Tokens {
  id: string;
  accessToken: string;
  refreshToken: string;
}

export interface Load extends AsyncDisposable {
  /** Waits for this many more acknowledged requests. @throws Error after a wrong answer, or after a minute */
  acknowledged(count: number): Promise<void>;
  /** Ends the load and waits for pending requests. */
  stop(): Promise<void>;
  /** The distinct statuses of failed requests; 0 stands for no answer. */
  refusals(): number[];
  /** The longest request, in milliseconds. */
  slowest(): number;
  /** Checks that everything acknowledged is stored, and nothing is half done or duplicated. */
  verify(): Promise<void>;
}

/** What a person reads. @throws Error unless the answer is 200 */
function read<Body>(server: ServerProcess, { accessToken }: Tokens, path: string): Promise<Body> {
  return server.rest('GET', path, undefined, { accessToken }).expect<Body>(200);
}
function signIn(server: ServerProcess, email: string): Promise<Tokens> {
  return server.rest('POST', '/auth/login', { email, password: PASSWORD }).expect<Tokens>(200);
}

/** The failures that a server answered with 500: none, where each outage is recognized as one. */
export function failuresOf({ lines }: ServerProcess): string[] {
  const failed = new Set(lines.filter(({ status }) => status === 500).map(({ requestId }) => requestId));
  return lines.filter(({ requestId, err }) => err !== undefined && failed.has(requestId)).map((line) => JSON.stringify(line));
}

/**
 * People register, renew their tokens, order, post, read notifications and fill the catalogue, concurrently and
 * repeatedly, and record the answers. Every answer is checked against the OpenAPI document.
 * @param server returns the current server
 * @param notify makes unread notifications for a person and returns their ids
 */
export async function startLoad(
  server: () => ServerProcess,
  { workers = 6, notify }: { workers?: number; notify(receiverId: string): Promise<string[]> },
): Promise<Load> {
  const sent: { status: number; milliseconds: number }[] = [];
  const checks: (() => Promise<void>)[] = [];
  const over = new AbortController();
  const events = new EventEmitter().setMaxListeners(0);

  /** Sends a request. @returns its answer, empty without a body; undefined when the outcome is unknown */
  async function attempt(method: string, path: string, body?: object, accessToken?: string, headers = {}) {
    const start = performance.now();
    let answer: RestAnswer | undefined;
    try {
      answer = await server().rest(method, path, body, { accessToken, headers });
    } catch (error) {
      // the connection ended with the process; any other error is an undocumented answer
      if (!isCutOff(error)) throw error;
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
