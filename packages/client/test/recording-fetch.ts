import type { Clock } from '@tandem/storage';
import type { Fetch } from '../src/index.js';

/** A client's request: the procedures it called, and with what. */
export interface SentRequest {
  procedures: string[];
  headers: Headers;
  credentials: string | undefined;
  body: unknown;
}

/** Lets a test delay requests or make them fail. An answer that it returns replaces the server's. */
export type BeforeSending = (request: SentRequest) => Promise<Response | void> | Response | void;

/**
 * The platform's `fetch`, which records its requests.
 * @param before awaited before each request is sent
 * @param send does the sending
 */
export function createRecordingFetch(before: BeforeSending = () => {}, send: Fetch = fetch) {
  const requests: SentRequest[] = [];
  const recording: Fetch = async (input, init) => {
    const request: SentRequest = {
      procedures: new URL(input instanceof Request ? input.url : input).pathname.replace('/trpc/', '').split(','),
      headers: new Headers(init?.headers),
      credentials: init?.credentials,
      body: typeof init?.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined,
    };
    requests.push(request);
    return (await before(request)) ?? send(input, init);
  };
  return {
    fetch: recording,
    requests,
    /** Number of requests that called a procedure. */
    count: (procedure: string) => requests.filter(({ procedures }) => procedures.includes(procedure)).length,
  };
}

/**
 * Handles cookies as a browser does: keeps them until they expire, and sends them where a request includes credentials.
 */
export function createCookieFetch(clock: Clock): Fetch {
  const jar = new Map<string, { value: string; until: number }>();
  const now = () => clock.now().getTime();

  function keep(header: string): void {
    const [pair = '', ...attributes] = header.split('; ');
    const [name = '', value = ''] = pair.split('=');
    const maxAge = attributes.find((attribute) => attribute.startsWith('Max-Age='))?.slice('Max-Age='.length);
    const expires = attributes.find((attribute) => attribute.startsWith('Expires='))?.slice('Expires='.length);
    const until = maxAge === undefined ? Date.parse(expires ?? '') : now() + Number(maxAge) * 1000;
    if (until > now()) jar.set(name, { value, until });
    else jar.delete(name);
  }

  return async (input, init) => {
    if (init?.credentials !== 'include') return fetch(input, init);
    const live = [...jar].filter(([, { until }]) => until > now());
    const headers = new Headers(init.headers);
    if (live.length > 0) headers.set('cookie', live.map(([name, { value }]) => `${name}=${value}`).join('; '));
    const response = await fetch(input, { ...init, headers });
    for (const header of response.headers.getSetCookie()) keep(header);
    return response;
  };
}
