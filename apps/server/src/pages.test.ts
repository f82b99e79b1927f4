import http from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fixture, startS3Server, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const app = fixture(startTestServer);
const s3 = fixture(startS3Server);
const remote = fixture(() => startTestServer({ files: { url: s3.url, pollMs: 3_600_000 } }));

async function get(path: string, server = app) {
  const response = await fetch(new URL(path, server.url), { redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The names of the assets that a page loads. */
async function assetsOf(path: string): Promise<string[]> {
  const links = (await get(path)).text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g);
  return [...links].map(([, link]) => link as string);
}

/** The bytes as sent: fetch would decompress them, and ask for an answer that no cache has. */
function getBytes(path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status?: number | undefined; headers: http.IncomingHttpHeaders; bytes: Buffer }>((resolve, reject) => {
    const request = http.request(app.url + path, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) }));
    });
    request.on('error', reject).end();
  });
}

const NOT_FOUND = { status: 404, text: '{"error":{"message":"Not Found"}}' };

it('the console may also load files from, and upload them to, a storage on another origin', async () => {
  const endpoint = new URL(s3.url).searchParams.get('endpoint');
  const policy = (await get('/console', remote)).headers.get('content-security-policy');
  expect(policy).toContain(`img-src 'self' ${endpoint};connect-src 'self' ${endpoint};`);
});

describe.each([
  ['/console', ['/console/', '/console/chat/019c7d2e']],
  ['/docs', ['/docs/', '/docs/products.list']],
])('the page at %s', (first, others) => {
  it('is the same at all paths below, and is not sent again to a browser that has it', async () => {
    const page = await get(first);
    const { headers: plain } = await getBytes(first, {});
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    for (const path of others) expect(await get(path)).toMatchObject({ status: 200, text: page.text });
    const { etag = '' } = plain;
    const statusWith = async (tag: string) => (await getBytes(first, { 'if-none-match': tag })).status;
    expect([await statusWith(etag), await statusWith('"another"')]).toEqual([304, 200]);
  });

  it('has a policy that lets in nothing but its own files', async () => {
    const { text, headers } = await get(first);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self';");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*|https?:(?!\/\/)/);
    expect(text).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  it('has immutable assets', async () => {
    const assets = await assetsOf(first);
    expect(assets.length).toBeGreaterThan(2);
    for (const asset of assets) {
      const { status, headers } = await get(asset);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    }
  });
});

it('whatever is larger than 1 KiB is compressed, has a validator, and answers HEAD alike', async () => {
  const paths = ['/openapi.json', '/asyncapi.json', '/docs', '/console', ...(await assetsOf('/docs')), ...(await assetsOf('/console'))]; // prettier-ignore
  const large = [];
  // a font is compressed already
  for (const path of new Set(paths.filter((one) => !one.endsWith('.woff2')))) {
    const plain = await getBytes(path, {});
    if (plain.bytes.length <= 1024) continue;
    large.push(path);
    const headers = { 'accept-encoding': 'br, gzip' };
    const sent = await getBytes(path, headers);
    expect(sent.headers, path).toMatchObject({
      'content-encoding': 'br',
      vary: expect.stringMatching('Accept-Encoding') as unknown,
    });
    expect(sent.bytes.length, path).toBeLessThan(plain.bytes.length);
    const head = await getBytes(path, headers, 'HEAD');
    const same = ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'];
    expect([head.status, ...same.map((name) => head.headers[name])], path).toEqual([200, ...same.map((name) => sent.headers[name])]); // prettier-ignore
    const again = await getBytes(path, { ...headers, 'if-none-match': sent.headers.etag ?? '' }, 'HEAD');
    expect(again.status, path).toBe(304);
  }
  expect(large.length).toBeGreaterThan(5);
});

it('answers of operations are never compressed: their sizes would tell what they hold', async () => {
  const admin = await app.signUpAdmin();
  const headers = { 'accept-encoding': 'gzip, br', authorization: `Bearer ${admin.accessToken}` };
  for (let n = 0; n < 5; n++) await app.signUp();
  for (const path of ['/identities', '/trpc/identities.list?input=%7B%7D']) {
    const { status, headers: sent, bytes } = await getBytes(path, headers);
    expect([status, sent['content-encoding'], bytes.length > 1024]).toEqual([200, undefined, true]);
  }
});

it('what caches tell pages and assets apart by names the origin too, where pages of several may read them', async () => {
  await using server = await startTestServer({ corsOrigins: ['https://a.example.org', 'https://b.example.org'] });
  const [asset = ''] = await assetsOf('/console');
  for (const path of ['/console', asset])
    expect((await get(path, server)).headers.get('vary'), path).toBe('Origin, Accept-Encoding');
});

describe('an asset', () => {
  it.each<Record<string, string>>([
    { range: 'bytes=99999999-' },
    { 'if-match': '"another"' },
    { 'if-unmodified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' },
  ])('is sent whole to who asks with %o', async (headers) => {
    const asset = (await assetsOf('/console')).find((name) => name.endsWith('.js')) ?? '';
    const { status, bytes } = await getBytes(asset, { 'accept-encoding': 'br', ...headers });
    expect(status).toBe(200);
    expect(brotliDecompressSync(bytes)).toEqual((await getBytes(asset, {})).bytes);
  });

  it('is sent as it was compressed by the build, where the browser accepts it', async () => {
    const asset = (await assetsOf('/console')).find((name) => name.endsWith('.js')) ?? '';
    const plain = await getBytes(asset, {});
    const br = await getBytes(asset, { 'accept-encoding': 'gzip, br' });
    const gzip = await getBytes(asset, { 'accept-encoding': 'gzip, br;q=0' });
    expect([plain, br, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'br', 'gzip']);
    expect(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
    for (const { headers } of [plain, br, gzip])
      expect(headers).toMatchObject({ vary: 'Accept-Encoding', 'content-type': 'text/javascript; charset=utf-8' });
    expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    const again = await getBytes(asset, { 'accept-encoding': 'br', 'if-none-match': br.headers.etag ?? '' });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  });

  it('is none of the compressed files, and nothing outside the folder', async () => {
    const [asset] = await assetsOf('/console');
    const files = ['none.js', '..%2findex.html', '%2e%2e%2f%2e%2e%2fpackage.json', '..%5c..%5cpackage.json'];
    for (const path of [...files.map((file) => `/assets/${file}`), `${asset}.br`])
      expect(await get(path)).toMatchObject(NOT_FOUND);
  });
});

describe('an address', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
  const visit = (path: string) => fetch(app.url + path, { headers: BROWSER, redirect: 'manual' });

  it('without a path leads people to the console, and programs to the documents', async () => {
    const { status, headers } = await visit('/');
    expect([status, headers.get('location'), headers.get('vary')]).toEqual([302, 'console', 'Accept']);
    const { headers: ofAnswer, text } = await get('/');
    expect(ofAnswer.get('vary')).toBe('Accept');
    const { name, ...links } = JSON.parse(text) as Record<string, string>;
    expect([name, Object.keys(links)]).toEqual(['Tandem', ['openapi', 'asyncapi', 'docs', 'console']]);
    for (const path of Object.values(links)) expect((await get(path)).status).toBe(200);
  });

  it('that does not exist is a page for people, and the envelope for programs and below the paths of the API', async () => {
    for (const path of ['/nowhere', '/nowhere/else', '/productz']) {
      const page = await visit(path);
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(page.headers.get('x-error-code')).toBe('request.noSuchRoute');
      expect(await page.text()).toContain('There is no such page');
      expect(await get(path)).toMatchObject(NOT_FOUND);
    }
    for (const path of ['/auth/nothing', '/trpc', '/files/none', '/assets/none.js', '/health'])
      expect((await visit(path)).headers.get('content-type'), path).toMatch('application/json');
    const posted = await fetch(`${app.url}/nowhere`, { method: 'POST', headers: BROWSER });
    expect([posted.status, await posted.text()]).toEqual([NOT_FOUND.status, NOT_FOUND.text]);
  });

  it('of the icon that browsers ask for leads to it', async () => {
    const icon = await fetch(`${app.url}/favicon.ico`);
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });
});

describe('the console', () => {
  it('finds its settings, and links of mails lead to its pages', async () => {
    expect(await get('/console/settings.json')).toMatchObject({
      status: 200,
      text: '{"authMode":"bearer","adminTypeId":"admin","brand":{"name":"Tandem"},"passkeys":false,"providers":[]}',
    });
    for (const name of ['confirm-email', 'confirm-new-email', 'reset-password', 'invitation']) {
      const { status, headers } = await get(`/${name}?token=a%2Fb`);
      expect({ status, to: headers.get('location') }).toEqual({ status: 302, to: `console/${name}?token=a%2Fb` });
    }
  });

  it('has a name, logo and color of the host', async () => {
    const brand = { name: 'Harbour', logoUrl: 'https://cdn.example.org/logo.svg', color: '#1f4fd8' };
    await using server = await startTestServer({ brand });
    expect(JSON.parse((await get('/console/settings.json', server)).text)).toMatchObject({ brand });
    const { headers } = await get('/console', server);
    expect(headers.get('content-security-policy')).toMatch(/img-src 'self' [^;]*https:\/\/cdn\.example\.org;/);
  });

  it('is switched off by its configuration, but not the API reference', async () => {
    await using server = await startTestServer({ console: false });
    for (const path of ['/console', '/console/settings.json', '/confirm-email?token=x'])
      expect(await get(path, server)).toMatchObject(NOT_FOUND);
    expect((await get('/docs', server)).status).toBe(200);
    const door = await fetch(server.url, { headers: { accept: 'text/html' }, redirect: 'manual' });
    expect(door.headers.get('location')).toBe('docs');
  });
});
