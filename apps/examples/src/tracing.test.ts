import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { PASSWORD, startServerProcess } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Span {
  name: string;
  traceId: string;
  attributes: { key: string; value: { stringValue?: string } }[];
}
interface Export {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
}

const spans: Span[] = [];
/** Receives traces by OTLP over HTTP, as JSON. */
const collector = http.createServer((req, res) => {
  void json(req).then((body) => {
    spans.push(...(body as Export).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    res.end('{}');
  });
});
const named = (name: string) => spans.find((span) => span.name === name);
const attributeOf = (span: Span | undefined, name: string) => span?.attributes.find(({ key }) => key === name)?.value.stringValue;

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-traces-'));
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  collector.close();
  await rm(dataDir, { recursive: true });
});

/** Runs a server with a module loaded first: it answers some requests, and ends when `before` is done. */
async function runServer(imported: string, before: () => Promise<void>): Promise<void> {
  await using server = await startServerProcess({
    DATA_DIR: dataDir,
    NODE_OPTIONS: `--import=${imported}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  const account = { email: `${crypto.randomUUID()}@example.org`, password: PASSWORD };
  await server.rest('POST', '/auth/register', account).expect(201);
  await server.rest('GET', `/locations/${crypto.randomUUID()}`).expect(404);
  await fetch(`${server.url}/messages/listen?ticket=secret`);
  await before();
  await server.kill('SIGTERM');
}

describe('traces', () => {
  it('name the route by its template, and its database operations, without values', async () => {
    await runServer(new URL('tracing.js', import.meta.url).href, async () => {
      await expect.poll(() => named('GET /messages/listen'), { timeout: 15_000 }).toBeDefined();
    });
    const location = named('GET /locations/:locationId');
    expect(attributeOf(location, 'http.route')).toBe('/locations/:locationId');
    const insertion = named('insert identities');
    expect(insertion?.traceId).toBe(named('POST /auth/register')?.traceId);
    expect(attributeOf(insertion, 'db.query.text')).toContain('"email":"?"');
    expect(JSON.stringify(spans)).not.toMatch(/secret|@example\.org/);
  });

  it('are not made unless configured', async () => {
    spans.length = 0;
    await runServer('data:text/javascript,', () => Promise.resolve());
    expect(spans).toEqual([]);
  });
});
