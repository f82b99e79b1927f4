import type { OpenApiDocument } from '@tandem/core';
import {
  FACES,
  describedOperations,
  fixture,
  placesIn,
  replacePlace,
  resolveSchema,
  sendRequest,
  startTestServer,
  type DescribedOperation,
  type Face,
  type JsonSchema,
} from '@tandem/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { beforeAll, describe, expect, it } from 'vitest';

const NOBODY = '01890000-0000-7000-8000-000000000000';
/** Values that a store would take for a condition, and values of another type. */
const HOSTILE: unknown[] = [
  { $ne: null },
  { $gt: '' },
  { $where: 'true' },
  { $regex: '.*' },
  [NOBODY],
  [{ $ne: null }],
  5,
  true,
  null,
];
/** Record fields that callers must not set by naming them. */
const FIELDS = ['typeId', 'emailVerified', 'locked', 'passwordHash', 'sessionEpoch', 'onetimeEpoch', 'providers', 'deletedAt', '_id', 'id', '$set', '$where', '__proto__', 'constructor', 'prototype', 'hasOwnProperty']; // prettier-ignore

/**
 * The caller, where asked for, and records that must exist because a check comes before validation (decisions A17): by
 * parameter names.
 */
let known: Record<string, string>;
let document: OpenApiDocument;
let operations: DescribedOperation[];
const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: fullFormats });
const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
beforeAll(async () => {
  const category = { name: 'Books', description: '' };
  const made = async (path: string, body: object) => (await admin.rest('POST', path, body).expect<{ id: string }>(201)).id;
  const categoryId = await made('/categories', category);
  const channelId = await made('/channels', { name: 'Books', ownerId: admin.id });
  const messageId = await made('/messages', { channelId, senderId: admin.id, content: 'Books' });
  const organization = { name: 'Books', description: '', contact_email: 'books@example.org' };
  const organizationId = await made('/organizations', { organization });
  known = { identityId: admin.id, senderId: admin.id, categoryId, channelId, messageId, organizationId };
  document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
  operations = describedOperations(document);
});

const resolve = (schema: JsonSchema) => resolveSchema(document, schema);

/** A value that a schema accepts, with all optional parts. */
function sample(given: JsonSchema, name = ''): unknown {
  const schema = resolve(given);
  const { format, examples, properties = {}, items, anyOf, allOf, minLength = 1, minimum = 1 } = schema;
  // of a nullable value, the other type
  const type = [schema.type].flat().find((one) => one !== 'null');
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.type === 'null') return null;
  if (anyOf?.[0]) return sample(anyOf[0]);
  if (allOf) return Object.assign({}, ...allOf.map((one) => sample(one)));
  if (type === 'object') return Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, sample(one, key)]));
  if (type === 'array') return examples?.[0] ?? (items ? [sample(items)] : []);
  if (type === 'integer' || type === 'number') return minimum;
  if (type === 'boolean') return true;
  // so that a refusal is not for lack of permission
  if (format === 'uuid') return known[name] ?? NOBODY;
  if (format === 'date-time') return '2099-01-31T09:30:00.000Z';
  if (format === 'email') return 'somebody@example.org';
  return examples?.[0] ?? 'a text '.repeat(10).slice(0, Math.max(minLength, 20));
}

interface Answer {
  status: number;
  message: string | undefined;
  data: string[];
}

/** A path with its ids filled in. */
function withIds(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, key: string) => known[key] ?? NOBODY);
}

/** Sends a body unchanged, to a path or to the procedure. */
async function send(face: Face, { name, method, path, isOpen, body: schema }: DescribedOperation, body: string): Promise<Answer> {
  const isRead = method === 'get';
  const restPath = withIds(path);
  const verb = face === 'rest' ? method.toUpperCase() : isRead ? 'GET' : 'POST';
  const query = face === 'trpc' && isRead ? `?input=${encodeURIComponent(body)}` : '';
  const hasBody = verb !== 'GET' && (verb !== 'DELETE' || schema !== undefined);
  const response = await sendRequest(app.url + (face === 'rest' ? restPath : `/trpc/${name}${query}`), {
    method: verb,
    headers: {
      ...(hasBody && { 'content-type': 'application/json' }),
      ...(!isOpen && { authorization: `Bearer ${admin.accessToken}` }),
    },
    ...(hasBody && { body }),
  });
  const { error } = JSON.parse(response.text.startsWith('{') ? response.text : '{}') as {
    error?: { message: string; data?: string[] | { data?: string[] } };
  };
  const data = Array.isArray(error?.data) ? error.data : error?.data?.data;
  return { status: response.status, message: error?.message, data: data ?? [] };
}

/** A valid input of an operation on a face: on tRPC one object, path and query values included. */
function inputOf(face: Face, { parameters, body }: DescribedOperation): { schema: JsonSchema; value: unknown } | undefined {
  if (face === 'rest') return body && { schema: body, value: sample(body) };
  const properties = Object.fromEntries(parameters.filter((one) => one.in !== 'header').map((one) => [one.name, one.schema]));
  const inner = body && resolve(body);
  const schema: JsonSchema = { type: 'object', properties: { ...properties, ...inner?.properties } };
  return Object.keys(schema.properties ?? {}).length > 0 ? { schema, value: sample(schema) } : undefined;
}

describe.each(FACES)('over %s', (face) => {
  it('no operation accepts a condition, or anything else of the wrong type, as a value', async () => {
    const refusals = new Map<number, number>();
    for (const operation of operations) {
      const input = inputOf(face, operation);
      if (!input) continue;
      const isValid = ajv.compile({ ...input.schema, $defs: {}, components: document.components } as object);
      for (const place of placesIn(input.value)) {
        for (const hostile of HOSTILE) {
          const value = replacePlace(input.value, place, hostile);
          if (isValid(value)) continue;
          // a list of ids is as good as their text, on tRPC alone (decisions N1)
          if (operation.name === 'people.list' && place[0] === 'ids' && Array.isArray(hostile)) continue;
          const answer = await send(face, operation, JSON.stringify(value));
          const where = `${operation.name} ${place.join('/')} ${JSON.stringify(hostile)}: ${JSON.stringify(answer)}`;
          // a rule on a value refuses other types before the input is validated
          expect([400, 403], where).toContain(answer.status);
          const isNamed = answer.data.some((text) => text.includes(String(place[0])));
          expect(isNamed || answer.status === 403, where).toBe(true);
          refusals.set(answer.status, (refusals.get(answer.status) ?? 0) + 1);
        }
      }
    }
    const [invalid = 0, refused = 0] = [refusals.get(400), refusals.get(403)];
    expect(invalid).toBeGreaterThan(400);
    // else hardly any input would be validated
    expect(refused / invalid).toBeLessThan(0.5);
  }, 400_000);

  it('no operation sets a field that it does not name, nor a prototype', async () => {
    let tried = 0;
    const takesList = ({ body }: DescribedOperation) => body !== undefined && resolve(body).type === 'array';
    const sendsRecord = (one: DescribedOperation) =>
      face === 'trpc' ? !takesList(one) : !['get', 'delete'].includes(one.method);
    for (const operation of operations.filter(sendsRecord)) {
      const input = inputOf(face, operation) ?? { schema: {}, value: {} };
      for (const field of FIELDS.filter((one) => !Object.hasOwn(resolve(input.schema).properties ?? {}, one))) {
        const isList = Array.isArray(input.value);
        const record = JSON.stringify(isList ? (input.value as unknown[])[0] : input.value);
        // as text: an object literal would set the prototype itself
        const withField = record.replace(/\}$/, `${record === '{}' ? '' : ','}"${field}":{"isAdmin":true}}`);
        const answer = await send(face, operation, isList ? `[${withField}]` : withField);
        const where = `${operation.name} ${field}: ${JSON.stringify(answer)}`;
        // permission is checked first; and a provider's callback accepts whatever a provider sends, where there is one
        expect([400, 403, 404], where).toContain(answer.status);
        const isNamed = answer.data.some((text) => text.includes(`'${field}'`));
        expect(isNamed || answer.status !== 400, where).toBe(true);
        if (isNamed) tried++;
      }
    }
    expect(tried).toBeGreaterThan(300);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  }, 400_000);
});

describe('over REST', () => {
  it('text in a path is only text', async () => {
    const texts = ['{"$ne":null}', '[object Object]', '$where', '__proto__', 'constructor', 'null', 'undefined', "' || '1'=='1", '../identities', '\u0000', 'é', `${NOBODY}\n`, 'x'.repeat(5000)]; // prettier-ignore
    for (const { method, path, isOpen } of operations.filter((one) => one.path.includes('{'))) {
      for (const text of texts) {
        const address = app.url + path.replace(/\{\w+\}/g, encodeURIComponent(text));
        const headers = isOpen ? undefined : { authorization: `Bearer ${admin.accessToken}` };
        const { status } = await sendRequest(address, { method: method.toUpperCase(), ...(headers && { headers }) });
        expect([400, 403, 404, 422], `${method} ${path} ${text.slice(0, 50)}: ${status}`).toContain(status);
      }
    }
  });

  it('no query value becomes a condition, a list or an object', async () => {
    const queries = ['page[$ne]=1', 'page[]=1', 'page=1&page=2', 'page=%7B%22$ne%22:null%7D', 'limit=1e9', 'limit=0x10', 'limit=-1', 'limit=', '$where=true', '__proto__[page]=1', '__proto__=1', 'constructor=1', 'page=%00']; // prettier-ignore
    const lists = operations.filter(
      ({ method, parameters }) => method === 'get' && parameters.some(({ name }) => name === 'page'),
    );
    expect(lists.length).toBeGreaterThan(5);
    for (const { path } of lists) {
      for (const query of queries) {
        const answer = await admin.rest('GET', `${withIds(path)}?${query}`);
        expect([400, 403], `${path}?${query}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
      }
    }
  });
});

it('after all this the caller is unchanged', async () => {
  await admin.rest('GET', '/identities').expect(200);
  expect(app.logs()).not.toContain('unexpected failure');
});
