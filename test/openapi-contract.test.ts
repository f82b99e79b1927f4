import { readFileSync, writeFileSync } from 'node:fs';
import type { OpenApiDocument } from '@tandem/core';
import { fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { breakingChanges } from './breaking-changes.js';
import { interfaceOf, type Interface } from './openapi-contract.js';

/** The interface of the last release: `UPDATE_CONTRACT=1 npx vitest run test/openapi-contract` writes it. */
const FILE = new URL('./openapi-contract.json', import.meta.url);
/** Breaks that the next release is to have, as the test prints them. Empty after a release. */
const MEANT: readonly string[] = [];

const app = fixture(startTestServer);
let document: OpenApiDocument;
let now: Interface;
beforeAll(async () => {
  document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
  now = interfaceOf(document);
});

/** A line for each operation and schema, so that a difference can be read. */
function written(given: Interface): string {
  const lines = (of: object) =>
    Object.entries(of)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`)
      .join(',\n');
  return `{"operations": {\n${lines(given.operations)}\n}, "schemas": {\n${lines(given.schemas)}\n}}\n`;
}

it('the interface breaks no program that was written for the last release', () => {
  if (process.env['UPDATE_CONTRACT']) writeFileSync(FILE, written(now));
  const released = JSON.parse(readFileSync(FILE, 'utf8')) as Interface;
  expect(breakingChanges(released, now)).toEqual(MEANT);
});

describe('the comparison of interfaces', () => {
  type Change = (changed: OpenApiDocument) => unknown;
  function breaksOf(change: Change): string[] {
    const changed = structuredClone(document);
    change(changed);
    return breakingChanges(now, interfaceOf(changed));
  }
  const product = (of: OpenApiDocument) => of.paths['/products/{productId}'] ?? {};
  type Fields = { properties: Record<string, Record<string, unknown>>; required: string[] };
  const bodyOf = (of: OpenApiDocument, path: string, method: string) =>
    of.paths[path]?.[method]?.requestBody?.content['application/json']?.schema as unknown as Fields;
  const schemaOf = (of: OpenApiDocument, name: string) => of.components.schemas[name] as unknown as Fields;
  const login = (of: OpenApiDocument) => bodyOf(of, '/auth/login', 'post');
  const attribute = (of: OpenApiDocument) => bodyOf(of, '/attributes', 'post');
  const data = (of: OpenApiDocument) => bodyOf(of, '/auth/ott/generate', 'post').properties['data'] ?? {};
  const page = { name: 'shop', in: 'query', schema: { type: 'string' } };

  // prettier-ignore
  it.each<[string, Change, string]>([
    ['an operation that is gone', (of) => delete product(of)['get'], 'products.get is gone'],
    ['a renamed operation', (of) => Object.assign(product(of)['get'] ?? {}, { operationId: 'products.read' }), 'products.get is gone: GET /products/{productId} is products.read'],
    ['a moved operation', (of) => Object.assign(of.paths, { '/goods/{productId}': { get: product(of)['get'] } }) && delete product(of)['get'], 'products.get was GET /products/{productId}, and is GET /goods/{productId}'],
    ['an answer that is gone', (of) => delete product(of)['get']?.responses['200'], 'products.get 200 is gone'],
    ['a field of an answer that is gone', (of) => delete schemaOf(of, 'Attribute').properties['name'], 'attributes.get 200.name is gone'],
    ['a field of an answer that may be absent', (of) => schemaOf(of, 'Attribute').required.shift(), 'attributes.get 200.id may be absent'],
    ['a field of an answer with another type', (of) => Object.assign(schemaOf(of, 'Attribute').properties['name'] ?? {}, { type: 'number' }), 'attributes.get 200.name: the type was string, and is number'],
    ['a field of an answer that may be null', (of) => Object.assign(schemaOf(of, 'Attribute').properties, { name: { anyOf: [{ type: 'string' }, { type: 'null' }] } }), 'attributes.get 200.name: the type was string, and is null'],
    ['a field deep in the rows of a list', (of) => delete schemaOf(of, 'PageMetadata').properties['pagination'], 'attributes.list 200.metadata.pagination is gone'],
    ['a new parameter that is required', (of) => product(of)['get']?.parameters?.push({ ...page, required: true }), 'products.get query shop is required'],
    ['a parameter that is gone', (of) => product(of)['get']?.parameters?.shift(), 'products.get path productId is refused'],
    ['a new field of a body that is required', (of) => login(of).required.push('fingerprint'), 'auth.login body.fingerprint is required'],
    ['a field of a body that is gone', (of) => delete login(of).properties['password'], 'auth.login body.password is refused'],
    ['a field of a body that takes less', (of) => Object.assign(login(of).properties['password'] ?? {}, { minLength: 99 }), 'auth.login body.password: minLength is narrower'],
    ['a value that is gone', (of) => (bodyOf(of, '/locations', 'post').properties['type'] as { enum: string[] }).enum.pop(), 'locations.create body.type: the value "BUILDING" is gone'],
    ['a body that is required', (of) => Object.assign(bodyOf(of, '/auth/logout', 'post') ? (of.paths['/auth/logout']?.['post']?.requestBody ?? {}) : {}, { required: true }), 'auth.logout body is required'],
    ['an operation that needs credentials', (of) => Object.assign(product(of)['get'] ?? {}, { security: [{ bearer: [] }] }), 'products.get needs credentials'],
    ['an answer without its body', (of) => Object.assign(product(of)['get']?.responses ?? {}, { 200: {} }), 'products.get 200 has no body'],
    ['a number that is no longer whole', (of) => Object.assign(schemaOf(of, 'ListTotal'), { type: 'number' }), 'attributes.list 200.total: the type was integer, and is number'],
    ['a list of a body that takes fewer', (of) => Object.assign(attribute(of).properties['items'] ?? {}, { maxItems: 1 }), 'attributes.create body.items: maxItems is narrower'],
    ['a field in a list of a body that is gone', (of) => delete (attribute(of).properties['items'] as unknown as { items: Fields }).items.properties['value'], 'attributes.create body.items[].value is refused'],
    ['a field of a body that takes only some values', (of) => Object.assign(login(of).properties['fingerprint'] ?? {}, { enum: ['a'] }), 'auth.login body.fingerprint: the values are others'],
    ['a field of a body that takes only some texts', (of) => Object.assign(login(of).properties['fingerprint'] ?? {}, { pattern: '^a' }), 'auth.login body.fingerprint: pattern is narrower'],
    ['an open object that is closed', (of) => Object.assign(data(of), { additionalProperties: false }), 'auth.ottGenerate body.data is closed'],
    ['an open object that takes only texts', (of) => Object.assign(data(of), { additionalProperties: { type: 'string' } }), 'auth.ottGenerate body.data.*: the type was any, and is string'],
    ['an open object with shorter names', (of) => Object.assign(data(of), { propertyNames: { type: 'string', maxLength: 9 } }), 'auth.ottGenerate body.data.*: maxLength is narrower'],
  ])('refuses %s', (_, change, text) => {
    expect(breaksOf(change)).toContain(text);
  });

  it('fails at a keyword that it does not know', () => {
    const change: Change = (of) => Object.assign(login(of).properties['password'] ?? {}, { multipleOf: 2 });
    expect(() => breaksOf(change)).toThrow('the keyword multipleOf is not compared');
  });

  it('allows what is added, and what takes more', () => {
    const added: Change = (of) => {
      Object.assign(of.paths, { '/new': { get: { ...product(of)['get'], operationId: 'new.get' } } });
      product(of)['get']?.parameters?.push(page);
      Object.assign(schemaOf(of, 'Attribute').properties, { colour: { type: 'string' } });
      Object.assign(login(of).properties, { colour: { type: 'string' } });
      Object.assign(login(of).properties['password'] ?? {}, { minLength: 0, description: 'Other words.' });
      (bodyOf(of, '/locations', 'post').properties['type'] as { enum: string[] }).enum.push('ROOM');
      Object.assign(attribute(of).properties['name'] ?? {}, { type: ['string', 'number'] });
      const { items: lines } = bodyOf(of, '/orders', 'post').properties['items'] as unknown as { items: Fields };
      Object.assign(lines.properties['quantity'] ?? {}, { type: 'number' });
      (schemaOf(of, 'OrganizationChangeRequest').properties['status'] as { enum: string[] }).enum.push('withdrawn');
      Object.assign(of.paths['/auth/logout']?.['post'] ?? {}, { security: [] });
      Object.assign(product(of)['get']?.responses ?? {}, { 418: { description: 'A teapot.' } });
    };
    expect(breaksOf(added)).toEqual([]);
  });
});
