import type { AuthMode, OpenApiDocument } from '@tandem/core';
import { placesIn, replacePlace, type DescribedOperation, type Face } from '@tandem/testing';
import * as fc from 'fast-check';
import { hostileCookie, hostileKey, hostileText, hostileValue, toText, wildBody } from './hostile-values.js';
import type { KnownValues } from './known-values.js';
import { listText } from './list-texts.js';
import { createSchemaValues } from './schema-values.js';

/** Who asks: `mallory` sends what is no access token. */
export type CallerName = 'anonymous' | 'regular' | 'admin' | 'mallory';

/** One request, as it goes over the wire but for the caller's credentials. */
export interface FuzzRequest {
  face: Face | 'mcp';
  /** Of the server that it is sent to. */
  mode: AuthMode;
  caller: CallerName;
  method: string;
  /** Path and query, percent-encoded. */
  path: string;
  /** Names and values in turn. */
  headers: string[];
  body: string;
}

/** What agents reach: all but `auth`. */
export const isForAgents = ({ name }: DescribedOperation): boolean => !name.startsWith('auth.');

const MCP_VERSION = '2026-07-28';
/** What each message of an agent says of it. */
const AGENT = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'fuzzer', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});

type Input = Record<string, unknown>;
type Pair = [string, string];

/** Which part of a request is not as it should be, and how often that is so. */
const FLAWS = { none: 6, path: 1, query: 1, body: 2, headers: 1, wild: 1 } as const;
type Flaw = keyof typeof FLAWS;

const caller: fc.Arbitrary<CallerName> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<CallerName>('regular', 'admin') },
  { weight: 1, arbitrary: fc.constantFrom<CallerName>('anonymous', 'mallory') },
);
const mode = fc.constantFrom<AuthMode>('bearer', 'cookie');
const oddHeaders: fc.Arbitrary<string[]> = fc.constantFrom(
  ['content-type', 'text/plain'],
  ['content-type', 'application/x-www-form-urlencoded'],
  ['content-type', 'application/json; charset=utf-16'],
  ['content-type', 'application/json', 'content-encoding', 'gzip'],
  ['content-type', 'application/json', 'content-encoding', 'nonsense'],
  ['content-type', ''],
  ['x-nb-fingerprint', 'another device'],
  ['x-nb-fingerprint', 'a', 'x-nb-fingerprint', 'b'],
  ['x-nb-fingerprint', 'x'.repeat(513)],
  ['x-request-id', '\u00e9'],
  ['x-request-id', 'x'.repeat(129)],
  ['idempotency-key', ''],
  ['idempotency-key', 'x'.repeat(256)],
  ['idempotency-key', 'a', 'idempotency-key', 'b'],
  ['origin', 'null', 'referer', 'nonsense'],
  ['accept', 'text/html', 'accept-language', '*', 'range', 'bytes=0-1', 'if-none-match', '*'],
);
/** Beside the caller's own cookies, so that a name of theirs comes twice. */
const hostileCookies: fc.Arbitrary<string[]> = fc
  .array(fc.tuple(fc.oneof(hostileKey, fc.constantFrom('accessToken', 'refreshToken')), hostileCookie), {
    minLength: 1,
    maxLength: 4,
  })
  .map((pairs) => [
    'cookie',
    pairs
      .map((pair) => pair.join('='))
      .join('; ')
      .replaceAll('\u0000', ''),
  ]);
const wrongHeaders = fc.oneof(oddHeaders, hostileCookies);
const hostilePairs: fc.Arbitrary<Pair[]> = fc.array(
  fc.tuple(fc.oneof(hostileKey, fc.constantFrom('page', 'page[]', 'page[$ne]', '$filter', '$apply')), hostileText),
  { minLength: 1, maxLength: 3 },
);

/** Percent-encoded; half a pair of surrogates, which cannot be, becomes what a browser makes of it. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

/** A value with something else in one place, without one, or with one more. */
function spoil(value: unknown): fc.Arbitrary<unknown> {
  const places = placesIn(value);
  const added = fc.tuple(hostileKey, hostileValue).map(([key, more]) => {
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isRecord ? Object.fromEntries([...Object.entries(value), [key, more]]) : [value, more];
  });
  if (places.length === 0) return added;
  const changed = fc
    .tuple(fc.constantFrom(...places), fc.oneof({ weight: 5, arbitrary: hostileValue }, fc.constant(undefined)))
    .map(([place, by]) => replacePlace(value, place, by));
  return fc.oneof({ weight: 5, arbitrary: changed }, added);
}

/**
 * Makes arbitraries of requests for operations of a document: right ones, and such with one flaw.
 * @param bodyKeys of operations whose body is an array: what it is called in their input
 */
export function createRequests(document: OpenApiDocument, values: KnownValues, bodyKeys: ReadonlyMap<string, string>) {
  const valueOf = createSchemaValues(document, values);

  /** Some of the query's parameters; of a list those of one style. */
  function queryOf({ path, parameters }: DescribedOperation): fc.Arbitrary<Input> {
    const inQuery = parameters.filter((one) => one.in === 'query');
    const paged = new Set(['page', 'limit']);
    const stepped = new Set(['$skip', '$top', '$nextToken', '$apply']);
    const ofStyle = (left: ReadonlySet<string>) => {
      const fields = inQuery.filter(({ name }) => !left.has(name));
      const texts = fields.map(({ name, schema }) => [name, listText(name, schema) ?? valueOf(schema, name, path)] as const);
      const requiredKeys = fields.filter(({ required }) => required).map(({ name }) => name);
      // at most a few of them: each more is one that may not go with another
      return fc
        .tuple(fc.record(Object.fromEntries(texts), { requiredKeys }), fc.nat())
        .map(([all, n]) =>
          Object.fromEntries(Object.entries(all).filter(([key], at) => requiredKeys.includes(key) || (at + n) % 4 === 0)),
        );
    };
    return fc.oneof(ofStyle(stepped), ofStyle(paged));
  }

  function restRequest(operation: DescribedOperation, flaw: Flaw): fc.Arbitrary<FuzzRequest> {
    const keys = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => key);
    const schemas = new Map(operation.parameters.filter((one) => one.in === 'path').map((one) => [one.name, one.schema]));
    const segments = fc.tuple(
      ...keys.map((key) =>
        (flaw === 'path' ? hostileText.filter((text) => text !== '') : valueOf(schemas.get(key) ?? {}, key, operation.path)).map(
          String,
        ),
      ),
    );
    const body: fc.Arbitrary<unknown> = operation.body ? valueOf(operation.body, '', operation.path) : fc.constant(undefined);
    const text =
      flaw === 'wild' ? wildBody : flaw === 'body' ? body.chain((value) => spoil(value ?? {})).map(toText) : body.map(toText);
    return fc
      .record({
        mode,
        caller,
        segments,
        query: queryOf(operation),
        more: flaw === 'query' ? hostilePairs : fc.constant<Pair[]>([]),
        headers: flaw === 'headers' ? wrongHeaders : fc.constant<string[]>([]),
        text,
      })
      .map(({ segments: parts, query, more, text: content, ...others }) => {
        const pairs = [...Object.entries(query), ...more].map(([key, value]) => `${encode(key)}=${encode(String(value))}`);
        const path = operation.path.replace(/\{(\w+)\}/g, (_, key: string) => encode(parts[keys.indexOf(key)] ?? ''));
        return {
          ...others,
          face: 'rest',
          method: operation.method.toUpperCase(),
          path: pairs.length > 0 ? `${path}?${pairs.join('&')}` : path,
          body: content,
        };
      });
  }

  /** The same as one input, as JSON: what is in path, query and body side by side. */
  function inputText(operation: DescribedOperation, flaw: Flaw): fc.Arbitrary<string> {
    const inPath = operation.parameters.filter((one) => one.in === 'path');
    const ofPath = fc.record(Object.fromEntries(inPath.map(({ name, schema }) => [name, valueOf(schema, name, operation.path)])));
    const ofBody: fc.Arbitrary<unknown> = operation.body ? valueOf(operation.body, '', operation.path) : fc.constant({});
    const input = fc.tuple(ofPath, queryOf(operation), ofBody).map(([path, query, body]) => {
      const fromBody = Array.isArray(body) ? { [bodyKeys.get(operation.name) ?? '']: body } : (body as Input);
      return { ...fromBody, ...query, ...path };
    });
    const isFlawed = flaw !== 'none' && flaw !== 'headers';
    return flaw === 'wild' ? wildBody : (isFlawed ? input.chain(spoil) : input).map(toText);
  }

  function trpcRequest(operation: DescribedOperation, flaw: Flaw): fc.Arbitrary<FuzzRequest> {
    const isRead = operation.method === 'get';
    const text = inputText(operation, flaw);
    return fc
      .record({ mode, caller, text, headers: flaw === 'headers' ? wrongHeaders : fc.constant<string[]>([]) })
      .map(({ text: content, ...others }) => ({
        ...others,
        face: 'trpc',
        method: isRead ? 'GET' : 'POST',
        path: `/trpc/${operation.name}${isRead ? `?input=${encode(content)}` : ''}`,
        body: isRead ? '' : content,
      }));
  }

  /** A call by an agent. */
  function mcpRequest(operation: DescribedOperation, flaw: Flaw): fc.Arbitrary<FuzzRequest> {
    return fc.record({ mode, caller, text: inputText(operation, flaw) }).map(({ text, ...others }) => {
      const input = text === '' ? '' : `,"input":${text}`;
      const params = `{"name":"call_operation","arguments":{"operation":"${operation.name}"${input}},"_meta":${AGENT}}`;
      return {
        ...others,
        face: 'mcp',
        method: 'POST',
        path: '/mcp',
        headers: ['mcp-protocol-version', MCP_VERSION, 'mcp-method', 'tools/call', 'mcp-name', 'call_operation'],
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
      };
    });
  }

  return (operation: DescribedOperation): fc.Arbitrary<FuzzRequest> =>
    fc.oneof(
      ...Object.entries(FLAWS).flatMap(([flaw, weight]) => [
        { weight: 2 * weight, arbitrary: restRequest(operation, flaw as Flaw) },
        { weight, arbitrary: trpcRequest(operation, flaw as Flaw) },
        ...(isForAgents(operation) ? [{ weight, arbitrary: mcpRequest(operation, flaw as Flaw) }] : []),
      ]),
    );
}
