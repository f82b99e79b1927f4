import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { fixture, startTestServer } from '@tandem/testing';
import { beforeAll, expect, it } from 'vitest';
import { compileSamples } from '../../../test/samples.js';
import type { ApiDocument } from '../src/reference/document.js';
import { asCurl, asFetch, asTypedClient, sampleCall } from '../src/reference/examples.js';
import { readReference, type Operation, type Reference } from '../src/reference/reference.js';

const app = fixture(startTestServer);
let reference: Reference;
let operations: Operation[];
beforeAll(async () => {
  [reference, operations] = await readApi(app.url);
});

async function readApi(url: string): Promise<[Reference, Operation[]]> {
  const read = readReference((await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument, url);
  return [read, read.services.flatMap((service) => service.operations)];
}

/** The example of each operation in a language. */
const examplesAs = (language: typeof asCurl) =>
  operations.map((operation) => language(operation, reference, sampleCall(operation, reference)));

it('every example with the typed client compiles', async () => {
  expect(operations.length).toBeGreaterThan(150);
  const errors = await compileSamples(examplesAs(asTypedClient));
  expect(errors.replace(/sample-(\d+)/g, (name, at: number) => operations[at]?.id ?? name)).toBe('');
});

/** Runs an example with `fetch`. @returns the answer to its request */
async function byFetch(example: string, accessToken: string): Promise<{ status: number; text: string }> {
  let answer = { status: 0, text: '' };
  async function sending(...request: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(...request);
    answer = { status: response.status, text: await response.clone().text() };
    return response;
  }
  await runInNewContext(`(async () => { ${example} })()`, { accessToken, fetch: sending, URLSearchParams });
  return answer;
}

async function byCurl(example: string, ACCESS_TOKEN: string): Promise<{ status: number; text: string }> {
  const command = example.replace(/^curl/, "curl -s -w '\\n%{http_code}'");
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { PATH: process.env['PATH'], ACCESS_TOKEN } });
  const [, text = '', status] = /^([^]*)\n(\d+)$/.exec(stdout) ?? [];
  return { status: Number(status), text };
}

/** Answers to a request that lacks something, or is no call of an operation. */
const MISUNDERSTOOD = /Validation Error|authorization|"Not Found"|^0 /;
/** Needs an address that the host has allowed. */
const BY_SETTINGS = ['auth.startOauth'];

it.each([
  ['fetch', asFetch, byFetch],
  ['curl', asCurl, byCurl],
])('every example with %s is a request that the server understands', async (_, language, send) => {
  let admin = await app.signUpAdmin();
  const answers: Record<string, string> = {};
  for (const [at, example] of examplesAs(language).entries()) {
    const { id = '' } = operations[at] ?? {};
    const { status, text } = await send(example, admin.accessToken);
    answers[id] = `${status} ${text}`;
    if (id === 'auth.logout') admin = await app.signIn(admin.email);
  }
  const wrong = Object.entries(answers).filter(([, answer]) => MISUNDERSTOOD.test(answer));
  expect(wrong.map(([id]) => id)).toEqual(BY_SETTINGS);
});

it('an example with curl sends the cookie where the access token is in one', async () => {
  await using inCookies = await startTestServer({ authModes: { default: 'cookie' } });
  const [read, all] = await readApi(inCookies.url);
  const operation = all.find(({ id }) => id === 'auth.sessions') as Operation;
  const { id, accessToken } = await inCookies.signIn((await app.signUp()).email);
  const example = asCurl(operation, read, { path: { identityId: id }, query: {}, headers: {} });
  expect(await byCurl(example, accessToken)).toMatchObject({ status: 200 });
});
