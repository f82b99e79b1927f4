import { fixture, sendRequest, startTestServer } from '@tandem/testing';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { hostileKey, hostileText, hostileValue, toText, wildBody } from '../test/fuzz/hostile-values.js';

const FRAMES = 2000;
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const METHODS = ['initialize', 'ping', 'tools/list', 'tools/call', 'server/discover', 'subscriptions/listen', 'logging/setLevel', 'resources/list', 'notifications/initialized', 'notifications/cancelled', 'completion/complete', 'tasks/get']; // prettier-ignore
const TOOLS = ['search_operations', 'describe_operation', 'call_operation', '__proto__', ''];

const app = fixture(() => startTestServer({ mcp: true }));

/** Something right, mostly. */
const or = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: hostileValue }, fc.constant(undefined));
const version = fc.constantFrom('2026-07-28', '2025-11-25', '2024-11-05', '1.0', '');
const toolArguments = fc.record({
  query: or(hostileText),
  operation: or(fc.constantFrom('products.list', 'people.list', 'auth.login', 'constructor', 'toString')),
  input: hostileValue,
});
const meta = fc.record({
  'io.modelcontextprotocol/protocolVersion': or(version),
  'io.modelcontextprotocol/clientInfo': or(fc.constant({ name: 'a', version: '1' })),
  'io.modelcontextprotocol/clientCapabilities': or(fc.constant({})),
});
const params = fc
  .tuple(
    fc.record({
      name: or(fc.constantFrom(...TOOLS)),
      arguments: or(toolArguments),
      _meta: or(meta),
      protocolVersion: or(version),
      capabilities: hostileValue,
      clientInfo: hostileValue,
      notifications: hostileValue,
    }),
    hostileKey,
    hostileValue,
  )
  .map(([known, key, value]) => Object.fromEntries([...Object.entries(known), [key, value]]));
const message = fc.record({
  jsonrpc: or(fc.constant('2.0')),
  id: or(fc.oneof(fc.nat(), fc.string())),
  method: or(fc.constantFrom(...METHODS)),
  params: or(params),
  result: fc.option(hostileValue, { nil: undefined }),
});
const notification = fc.record({
  jsonrpc: fc.constant('2.0'),
  method: fc.constantFrom('notifications/initialized', 'notifications/cancelled'),
  params: or(params),
});
const frame = fc.oneof(
  { weight: 7, arbitrary: message.map(toText) },
  { weight: 1, arbitrary: notification.map(toText) },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 5 }).map(toText) },
  { weight: 1, arbitrary: wildBody },
);
const headers = fc
  .record({
    'mcp-protocol-version': fc.option(version),
    'mcp-method': fc.option(fc.constantFrom(...METHODS)),
    'mcp-name': fc.option(fc.constantFrom(...TOOLS)),
    'mcp-session-id': fc.option(fc.constantFrom('1', '../..')),
    accept: fc.option(fc.constantFrom('application/json', 'text/html', 'application/json, text/event-stream')),
    authorization: fc.option(fc.constantFrom('Bearer a', 'Basic a', '')),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Record<string, string>);

const answerTo = (body: string, given: Record<string, string> = {}) =>
  sendRequest(`${app.url}/mcp`, { method: 'POST', headers: { 'content-type': 'application/json', ...given }, body });

it(`hostile frames are never 5xx, show nothing internal, and leave a server that works (FUZZ_SEED=${SEED})`, async () => {
  const statuses = new Set<number>();
  const property = fc.asyncProperty(frame, headers, async (body, given) => {
    const { status, text } = await answerTo(body, given);
    statuses.add(status);
    if (status >= 500 || /"status":5\d\d|node_modules|\bat .*\.[jt]s:\d/.test(text))
      throw new Error(`${status} ${text.slice(0, 500)}`);
  });
  await fc.assert(property, { seed: SEED, numRuns: FRAMES, endOnFailure: true });
  expect([...statuses]).toEqual(expect.arrayContaining([200, 202, 400]));
  expect(app.logs()).not.toMatch(/"level":50/);
  const list = await answerTo('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  expect(list.text).toContain('search_operations');
}, 180_000);
