import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { errorsOf, operationsOf, type OpenApiDocument } from '@tandem/core';
import { describedOperations, fixture, resolveReference, resolveSchema, startTestServer, type JsonSchema } from '@tandem/testing';
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../test/operations.js';

const app = fixture(startTestServer);
let document: OpenApiDocument;
beforeAll(async () => {
  document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
});

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate({ ...structuredClone(document) })).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('is lean: at most 2,300 bytes an operation, 200 of them compressed', () => {
    const text = JSON.stringify(document);
    expect(text.length / OPERATIONS.length).toBeLessThan(2300);
    expect(gzipSync(text).length / OPERATIONS.length).toBeLessThan(200);
  });

  it('has exactly the operations of the interface, named by their tRPC paths, with their true success status', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => {
        const success = Object.keys(responses).find((status) => /^[23]/.test(status));
        return [operationId, `${method.toUpperCase()} ${path}`, Number(success)];
      }),
    );
    expect(new Set(described.map(String))).toEqual(new Set(OPERATIONS.map(String)));
    expect(described).toHaveLength(OPERATIONS.length);
  });

  it('has every error that an operation declares, under its status, in the envelope', () => {
    for (const operation of operationsOf(app.tandem.router)) {
      const responses = document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses ?? {};
      for (const { status, message } of errorsOf(operation)) {
        const response = responses[status];
        if (!response) throw new Error(`${operation.name} has no ${status}`);
        // 503 may have the text of 500
        const texts = [resolveReference(document, response), status === 503 ? responses[500]?.description : ''];
        expect(JSON.stringify(texts)).toContain(JSON.stringify(message).slice(1, -1));
      }
    }
  });

  it('requires the bearer token exactly where a caller must be known, and reads it elsewhere only if it may be given', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const withSecurity = (security: object[]) =>
      operations.filter((one) => isDeepStrictEqual(one.security, security)).map(({ operationId }) => operationId);
    const optional = [
      'auth.confirmEmail',
      'auth.confirmNewEmail',
      'auth.logout',
      'auth.resetPassword',
      'products.get',
      'products.list',
    ];
    expect(withSecurity([{ bearer: [] }, {}]).toSorted()).toEqual(optional);
    const open = [...withSecurity([]), ...optional];
    expect(open.length + withSecurity([{ bearer: [] }]).length).toBe(operations.length);
    expect(open.toSorted()).toEqual(
      [
        'attributes.get',
        'attributes.list',
        'categories.get',
        'categories.list',
        'locations.get',
        'locations.list',
        'products.get',
        'products.list',
        'productVariants.list',
        'auth.checkToken',
        'auth.confirmEmail',
        'auth.confirmNewEmail',
        'auth.login',
        'auth.logout',
        'auth.mfaPasskey',
        'auth.mfaPasskeyOptions',
        'auth.mfaResend',
        'auth.mfaVerify',
        'auth.ottLogin',
        'auth.passkeySignIn',
        'auth.passkeySignInOptions',
        'auth.refreshToken',
        'auth.register',
        'auth.resetPassword',
        'auth.sendResetPasswordLinkEmail',
        'auth.startOauth',
        'auth.finishOauth',
        'auth.finishOauthByForm',
      ].toSorted(),
    );
  });

  it('has the fingerprint as an optional header, exactly where it may be refused', () => {
    for (const { name, parameters, method, path } of describedOperations(document)) {
      const mayBeRefused = JSON.stringify(resolveReference(document, document.paths[path]?.[method]?.responses['422'] ?? {})).includes('x-nb-fingerprint header'); // prettier-ignore
      expect(
        parameters.some((one) => one.name === 'x-nb-fingerprint' && !one.required),
        name,
      ).toBe(mayBeRefused);
    }
  });

  it('describes every service, operation, parameter and property of a body', () => {
    const bare: string[] = document.tags.flatMap(({ name, description }) => (description ? [] : [name]));
    const visit = (schema: JsonSchema, where: string) => {
      const { properties = {}, items, anyOf = [], allOf = [] } = resolveSchema(document, schema);
      for (const [name, property] of Object.entries(properties)) {
        if (!resolveSchema(document, property).description) bare.push(`${where}.${name}`);
        visit(property, `${where}.${name}`);
      }
      for (const inner of [...anyOf, ...allOf, ...(items ? [items] : [])]) visit(inner, where);
    };
    for (const { name, path, method, body, parameters } of describedOperations(document)) {
      const { summary, description } = document.paths[path]?.[method] ?? {};
      if (!summary || !/^Who may call it: \w/.test(description ?? '')) bare.push(name);
      for (const one of parameters) {
        // a list without relations has nothing to expand
        const hasExample = one.example !== undefined || (one.name === '$expand' && one.schema.description?.includes('none'));
        if (!one.schema.description || !hasExample) bare.push(`${name} ${one.name}`);
      }
      if (body) visit(body, name);
    }
    expect(bare).toEqual([]);
  });

  it('requires the cookie, or an API key, in cookie mode', async () => {
    await using cookies = await startTestServer({ authModes: { auth: 'cookie', identities: 'cookie', notifications: 'bearer' } });
    const { paths } = (await (await fetch(`${cookies.url}/openapi.json`)).json()) as OpenApiDocument;
    expect(paths['/identities']?.get?.security).toEqual([{ cookie: [] }, { bearer: [] }]);
    expect(paths['/notifications/{notificationId}/read']?.post?.security).toEqual([{ bearer: [] }]);
  });

  it('allows no unknown fields in bodies, and never shows a password', () => {
    const body = document.paths['/auth/register']?.post?.requestBody;
    expect(body).toMatchObject({ required: true, content: { 'application/json': { schema: { additionalProperties: false, required: ['password'] } } } }); // prettier-ignore
    expect(JSON.stringify(document.components.schemas)).not.toMatch(/"\w*(password|sessionEpoch)\w*":/i);
  });
});
