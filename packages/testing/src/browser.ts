import type { RestAnswer } from './contract.js';
import type { TestServer } from './test-server.js';

interface Cookie {
  host: string;
  path: string;
  name: string;
  value: string;
  expiresAt: number;
  /** Whether requests of other sites carry it. */
  isCrossSite: boolean;
}

/** A browser: it keeps cookies by host and path (shared by all ports of a host), and sends given requests. */
export interface Browser {
  /** Sends one request. Redirects are returned, not followed. */
  send(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<RestAnswer>;
  /** Submits a form on a page of another site: only cookies for such requests go along. */
  submit(url: string, fields: URLSearchParams, origin: string): Promise<RestAnswer>;
  /** Opens a URL; returns the final one after redirects. */
  goTo(url: string): Promise<string>;
  /** The `Cookie` header of a request to this URL. */
  cookiesFor(url: string): string;
}

function readCookie(text: string, url: URL): Cookie {
  const [pair = '', ...attributes] = text.split(';').map((part) => part.trim());
  const at = pair.indexOf('=');
  const settings = new Map(attributes.map((attribute) => attribute.split('=') as [string, string?]).map(([key, value]) => [key.toLowerCase(), value])); // prettier-ignore
  const [maxAge, expires] = [settings.get('max-age'), settings.get('expires')];
  return {
    host: url.hostname,
    path: settings.get('path') ?? url.pathname.replace(/\/[^/]*$/, '/'),
    name: pair.slice(0, at),
    value: pair.slice(at + 1),
    // browsers take `None` only with `Secure`
    isCrossSite: settings.get('samesite') === 'None' && settings.has('secure'),
    expiresAt: maxAge !== undefined ? Date.now() + Number(maxAge) * 1000 : expires === undefined ? Infinity : Date.parse(expires),
  };
}

function isBelow(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
}

/** A browser without cookies. Answers of `app` are checked against its OpenAPI document. */
export function createBrowser(app: Pick<TestServer, 'url' | 'rest'>): Browser {
  let jar: Cookie[] = [];

  function cookiesFor(text: string, among = jar): string {
    const { hostname, pathname } = new URL(text);
    const sent = among.filter(
      ({ host, path, expiresAt }) => host === hostname && isBelow(pathname, path) && expiresAt > Date.now(),
    );
    return sent.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  function keep(answer: RestAnswer, url: URL): void {
    for (const text of answer.headers.getSetCookie()) {
      const cookie = readCookie(text, url);
      jar = jar.filter(({ host, path, name }) => host !== cookie.host || path !== cookie.path || name !== cookie.name);
      jar.push(cookie);
    }
  }

  async function send(method: string, text: string, body?: unknown, given: Record<string, string> = {}): Promise<RestAnswer> {
    return sendWith(cookiesFor(text), method, text, body, given);
  }

  async function sendWith(
    cookie: string,
    method: string,
    text: string,
    body: unknown,
    given: Record<string, string>,
  ): Promise<RestAnswer> {
    const url = new URL(text);
    const headers = { ...given, ...(cookie !== '' && { cookie }) };
    const answer =
      url.origin === app.url
        ? await app.rest(method, url.pathname + url.search, body, { headers })
        : await sendElsewhere(method, text, body, headers);
    keep(answer, url);
    return answer;
  }

  return {
    send,
    submit(url, fields, origin) {
      const cookie = cookiesFor(
        url,
        jar.filter(({ isCrossSite }) => isCrossSite),
      );
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin, 'sec-fetch-site': 'cross-site' };
      return sendWith(cookie, 'POST', url, fields.toString(), headers);
    },
    cookiesFor: (url) => cookiesFor(url),
    async goTo(url) {
      const answer = await send('GET', url);
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`${url} sends nowhere: ${answer.status} ${JSON.stringify(answer.body)}`);
      return new URL(location, url).href;
    },
  };
}

async function sendElsewhere(method: string, url: string, body: unknown, headers: Record<string, string>): Promise<RestAnswer> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}
