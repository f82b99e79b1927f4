import http from 'node:http';
import { ERROR_CODE_HEADER, operationsOf, type AuthMode } from '@tandem/core';
import {
  PASSWORD,
  createContract,
  describedOperations,
  sendRaw,
  type Contract,
  type DescribedOperation,
  type Person,
  type RawAnswer,
  type TestServer,
} from '@tandem/testing';
import { describeApi } from '@tandem/server';
import * as fc from 'fast-check';
import { fillEveryList } from '../every-list.js';
import { GONE, SELF, createKnownValues } from './known-values.js';
import { createRequests, type CallerName, type FuzzRequest } from './requests.js';

/** Rows in every list of the world that is fuzzed. */
const ROWS = 3;
/** What an answer may take on a busy machine, in milliseconds; the server's own deadline is far above. */
const SOON_MS = 5000;
/** After more deletions than so many the world is made anew, so that the next operation finds something. */
const FEW = 10;
/** Of the one-time tokens that there are from the start. */
const TARGETS = ['login', 'confirm-email', 'change-email', 'reset-password', 'mfa-challenge'] as const;
/** Answers of Node's parser, before there is an operation. */
const OUTSIDE = new Set([408, 431]);
/** Of a body, which any mutation has on the tRPC face, and any call on the MCP face. */
const OF_BODY = new Set([413, 415]);

/** Codes of JSON-RPC, of what is no JSON, and of what is no message. */
const OF_PROTOCOL = new Set([-32_700, -32_600]);

interface TrpcAnswer {
  result?: { data?: unknown };
  error?: { message: string; data: { httpStatus: number; errorCode: string; data?: string[] } };
}

/** An answer of the MCP face, of which an operation's is the structured content. */
interface McpMessage {
  error?: { code: number };
  result?: { isError?: boolean; structuredContent?: { status: number; body?: unknown; errorCode?: string; retryAfter?: number } };
}

/** The error of an answer on either face, as on the REST face. */
function envelopeOf(body: unknown): unknown {
  const { error } = body as TrpcAnswer;
  if (!error?.data?.httpStatus) return body;
  return { error: { message: error.message, ...(error.data.data && { data: error.data.data }) } };
}

export interface Fuzzer {
  operations: DescribedOperation[];
  /** The statuses that an operation has answered so far. */
  statusesOf(name: string): number[];
  /** @throws Error with the seed and the smallest request that is not answered as documented */
  run(operation: DescribedOperation, options: { seed: number; runs: number }): Promise<void>;
  close(): void;
}

/**
 * Opens a fuzzer of two instances, one of each mode: somebody of each kind, a world with rows in every list, and requests made of the
 * OpenAPI document.
 */
export async function openFuzzer(servers: Record<AuthMode, TestServer>): Promise<Fuzzer> {
  const app = servers.bearer;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const documentOf = ({ tandem, url }: TestServer) => describeApi(tandem, { publicUrl: url });
  const document = await documentOf(app);
  const contracts = { bearer: createContract(document), cookie: createContract(await documentOf(servers.cookie)) };
  const operations = describedOperations(document);
  const known = createKnownValues();
  const bodyKeys = new Map(operationsOf(app.tandem.router).flatMap(({ name, bodyKey }) => (bodyKey ? [[name, bodyKey]] : [])));
  const requestOf = createRequests(document, known, bodyKeys);
  const statuses = new Map<string, Set<number>>();
  const people = new Map<CallerName, Person>();
  let isSpent = false;
  let isInDoubt = false;

  /** A world of its own for the regular caller, in which the admin may do anything. */
  async function populate(): Promise<void> {
    const { admin, ann, ...ids } = await fillEveryList(app, ROWS);
    isSpent = isInDoubt = false;
    known.forget();
    people.set('admin', admin).set('regular', ann);
    for (const { id, email, accessToken, refreshToken } of [admin, ann]) {
      known.add('identity', id);
      known.add('email', email);
      for (const token of [accessToken, refreshToken]) known.add('token', token);
    }
    known.add('password', PASSWORD);
    known.add('key', '👍');
    const gets = operations.filter(({ method, path }) => method === 'get' && !path.startsWith('/auth/oauth'));
    // what has rows of everything comes first: it is what most requests are about
    for (const [key, id] of Object.entries(ids)) known.add(known.kindOf(key, ''), id);
    for (const person of [admin, ann]) {
      for (const { path } of gets) {
        const address = path.replace(/\{(\w+)\}/g, (_, key: string) => String(known.first(known.kindOf(key, path))));
        known.learn(path, (await person.rest('GET', address)).body);
      }
    }
    const { email } = ann;
    for (const target of TARGETS) known.add('token', (await app.tandem.services.onetimeTokens.create({ identityId: ann.id, target, email })).token); // prettier-ignore
  }

  function authorizationOf({ caller, mode, face }: FuzzRequest): string[] {
    if (caller === 'anonymous') return [];
    const { accessToken, refreshToken } = people.get(caller === 'mallory' ? 'regular' : caller) as Person;
    const token = caller === 'mallory' ? refreshToken : accessToken;
    return mode === 'bearer' || face === 'mcp'
      ? ['authorization', `Bearer ${token}`]
      : ['cookie', `accessToken=${token}; refreshToken=${refreshToken}`];
  }

  function check({ face, mode, method, path }: FuzzRequest, operation: DescribedOperation, answer: RawAnswer): void {
    const contract = contracts[mode];
    const headers = new Headers(answer.headers as Record<string, string>);
    const { result, error } = (answer.body ?? {}) as TrpcAnswer;
    // REST and refusals of the server itself have the header
    if (error?.data?.errorCode) headers.set(ERROR_CODE_HEADER, error.data.errorCode);
    const isOutside = OUTSIDE.has(answer.status) || (face !== 'rest' && OF_BODY.has(answer.status));
    if (isOutside) return contract.check('GET', '/outside', { ...answer, headers, body: envelopeOf(answer.body) });
    if (face === 'mcp') return checkResult(operation, answer, headers);
    if (face === 'rest') return contract.check(method, path.split('?', 1)[0] as string, { ...answer, headers });
    const status = error ? error.data.httpStatus : successOf(contract, operation);
    if (error && status !== answer.status) throw new Error(`status ${answer.status}, but httpStatus ${status}`);
    const location = (result?.data as { location?: string } | undefined)?.location;
    if (status === 302 && location !== undefined) return;
    const body = error ? envelopeOf(answer.body) : result?.data;
    const isEmpty = body === undefined || status === 204;
    contract.check(operation.method, operation.path, { status: isEmpty ? 204 : status, headers, body });
  }

  /** Checks that the result of a tool is what REST would answer, or that the protocol refused the message. */
  function checkResult({ method, path }: DescribedOperation, { status, body: message }: RawAnswer, headers: Headers): void {
    const { error, result } = message as McpMessage;
    if (error && status === 400 && OF_PROTOCOL.has(error.code)) return;
    if (!result?.structuredContent) throw new Error(`${status}: ${JSON.stringify(message)}`);
    const { errorCode, retryAfter, ...answer } = result.structuredContent;
    if (answer.status >= 500) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
    if (result.isError !== (answer.status >= 400 || undefined)) throw new Error(`isError is wrong: ${JSON.stringify(message)}`);
    if (errorCode !== undefined) headers.set(ERROR_CODE_HEADER, errorCode);
    if (retryAfter !== undefined) headers.set('retry-after', String(retryAfter));
    // results name no version: only HTTP has conditional requests
    headers.set('etag', '"of HTTP"');
    contracts.bearer.check(method, path, { headers, body: undefined, ...answer });
  }

  /** Sends one request. @throws Error when it is not answered as documented */
  async function send(operation: DescribedOperation, request: FuzzRequest): Promise<void> {
    const { caller, mode, method } = request;
    const self = people.get(caller)?.id ?? SELF;
    const [path, body] = [request.path, request.body].map((text) => text.replaceAll(SELF, self)) as [string, string];
    const headers = [...authorizationOf(request), ...request.headers];
    const start = performance.now();
    const answer = await sendRaw(servers[mode].url, { method, path, headers, body, agent });
    const milliseconds = performance.now() - start;
    statuses.set(operation.name, (statuses.get(operation.name) ?? new Set()).add(answer.status));
    if (answer.status >= 500) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
    if (milliseconds > SOON_MS) throw new Error(`answered after ${Math.round(milliseconds)} ms`);
    check(request, operation, answer);
    isInDoubt ||= /POST|PATCH|DELETE/.test(method) && answer.status < 300;
    if (answer.status === 204 && method === 'DELETE') known.add(GONE, path.split('/').at(-1));
    // what is made, and what uploads go by; lists would put old records first
    if (answer.status === 201 || operation.path.endsWith('upload-url')) known.learn(operation.path, answer.body);
  }

  /** Whether both callers are who they were, and have what they had. */
  async function isWell(): Promise<boolean> {
    const [admin, regular] = [people.get('admin'), people.get('regular')] as [Person, Person];
    const answers = [
      await admin.rest('GET', '/auth/events?limit=1'),
      await regular.rest('GET', `/profiles/identities/${regular.id}?limit=1`),
    ];
    return answers.every(({ status, body }) => status === 200 && (body as { data: unknown[] }).data.length > 0);
  }

  await populate();
  return {
    operations,
    statusesOf: (name) => [...(statuses.get(name) ?? [])],
    async run(operation, { seed, runs }) {
      // somebody has locked, deleted or demoted themselves, or the world is used up
      if (isSpent || (isInDoubt && !(await isWell()))) await populate();
      isInDoubt = false;
      isSpent ||= runs > FEW && /delete|remove/i.test(operation.name);
      const property = fc.asyncProperty(requestOf(operation), (request) => send(operation, request));
      await fc.assert(property, { seed, numRuns: runs });
    },
    close: () => agent.destroy(),
  };

  function successOf(contract: Contract, { path, method }: DescribedOperation): number {
    return Number(Object.keys(contract.document.paths[path]?.[method]?.responses ?? {}).find((status) => /^[23]/.test(status)));
  }
}
