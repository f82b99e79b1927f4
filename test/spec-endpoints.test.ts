import { errorsOf, operationsOf, type OpenApiDocument } from '@tandem/core';
import { FACES, NO_ID, describedOperations, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';

/** Rules: the error of each, which the operation must declare. */
const RULES = {
  admin: '403 Identity is not authorized to access this resource',
  self: '403 Identity ID does not match',
  owner: '403 Invalid owner ID',
  role: '403 Identity is not authorized to access this organization',
  member: '403 Identity is not a member of the organization',
} as const;
type Rule = keyof typeof RULES;
type Row = readonly [route: string, status: number, rules: 'public' | 'signed in' | readonly Rule[], ...errors: string[]];

/**
 * Every endpoint of the specification: its route, success status, rules, and the errors that the specification or the
 * decisions name.
 */
const ENDPOINTS: readonly Row[] = [
  ['POST /notifications/{}/read', 204, ['owner']],
  ['GET /notifications/identities/{}', 200, ['self']],
  ['POST /notifications/identities/{}/read', 204, ['self'], '404 Notification not found'],

  ['POST /auth/register', 201, 'public', '422 unable to register'],
  ['POST /auth/login', 200, 'public', '401 wrong credentials provided', '401 This account is locked', '429 Too many requests'],
  ['POST /auth/mfa/verify', 200, 'public', '400 Invalid MFA code provided.'],
  ['POST /auth/mfa/resend', 200, 'public'],
  ['POST /auth/logout', 204, 'public', '422 Missing authorization header'],
  ['POST /auth/token/refresh', 200, 'public', '401 refresh token reuse detected', '422 Token was not found', '422 Unable to find refresh token'],
  ['POST /auth/token/check', 200, 'public', '401 token could not be verified'],
  ['DELETE /auth/{}/refresh-tokens', 204, ['admin', 'self']],
  ['POST /auth/{}/send-verification-email', 204, ['admin', 'self']],
  ['POST /auth/confirm-email', 204, 'public', '409 Email already verified or no changes made'],
  ['PATCH /auth/{}/change-email', 204, ['admin', 'self'], '409 Email already in use'],
  ['POST /auth/confirm-new-email', 204, 'public', '409 Email already in use'],
  ['POST /auth/send-reset-password-link-email', 204, 'public'],
  ['POST /auth/reset-password', 204, 'public', '401 token could not be verified'],
  ['PATCH /auth/{}/change-password', 204, ['admin', 'self']],
  ['POST /auth/activate', 204, ['admin'], '404 Identity not found'],
  ['POST /auth/deactivate', 204, ['admin', 'self']],
  ['POST /auth/ott/login', 200, 'public', '401 token could not be verified'],
  ['POST /auth/ott/generate', 201, ['admin'], '404 Identity not found'],
  ['POST /auth/ott/restore', 204, ['admin']],
  ['POST /auth/ott/invalidate', 204, ['admin']],

  ['DELETE /profiles/{}/profile-follows/{}', 204, ['admin', 'owner'], '404 Profile not found'],
  ['GET /profiles/{}/followers', 200, ['admin', 'owner'], '404 Profile not found'],
  ['PUT /profiles/{}/organization-follows/{}', 204, ['admin', 'owner'], '404 Profile not found', '404 Organization not found', '409 Organization is already followed'],
  ['DELETE /profiles/{}/organization-follows/{}', 204, ['admin', 'owner'], '404 Profile not found', '404 Organization not found'],
  ['GET /organizations/{}/followers', 200, ['admin', 'role'], '404 Organization not found'],
  ['PUT /profiles/{}/product-likes/{}', 201, ['admin', 'owner'], '404 Profile not found', '404 Product not found', '409 Product is already liked'],
  ['DELETE /profiles/{}/product-likes/{}', 204, ['admin', 'owner'], '404 Profile not found', '404 Product not found'],
  ['GET /profiles/identities/{}', 200, ['self']],
  ['GET /products/{}/likers', 200, ['admin'], '404 Product not found'],
  ['GET /products/organizations/{}', 200, ['admin', 'member']],
  ['POST /identities/{}/lock', 204, ['admin'], '404 Identity not found'],
  ['POST /identities/{}/unlock', 204, ['admin'], '404 Identity not found'],
  ['GET /identities/{}', 200, ['admin', 'self'], '404 Identity not found'],
  ['GET /identities', 200, ['admin']],
  ['PATCH /identities/{}', 200, ['admin'], '400 Failed to update identity', '404 Identity not found', '409 Email already in use'],
  ['POST /products/{}/variants', 201, ['admin'], '404 Product not found'],
  ['GET /products/{}/variants', 200, 'public', '404 Product not found'],
  ['GET /products/{}/variants/{}', 200, 'signed in', '404 Product variant not found'],
  ['PATCH /products/{}/variants/{}', 200, ['admin'], '404 Product variant not found'],
  ['DELETE /products/{}/variants/{}', 204, ['admin'], '404 Product variant not found'],
  ['POST /product/{}/variants/bulk', 201, ['admin'], '404 Product not found'],
  ['PATCH /product/{}/variants/bulk', 200, ['admin'], '404 Product variants not found'],
  ['POST /product/{}/variants/bulk-delete', 204, ['admin'], '404 Product variants not found'],
  ['POST /products', 201, ['admin'], '404 Organization not found'],
  ['POST /products/{}/images', 201, ['admin'], '404 Product not found'],
  ['POST /messages', 201, ['self']],
  ['POST /messages/{}/attachments', 201, ['owner']],
  ['GET /messages/{}', 200, ['admin'], '404 Chat message not found'],
  ['GET /channels/{}/icon-upload-url', 200, ['admin', 'owner'], '404 Channel not found'],
  ['GET /message-templates', 200, ['admin']],
  ['POST /message-templates', 201, ['admin']],
  ['GET /message-templates/{}', 200, ['admin']],
  ['GET /organizations/{}/message-templates', 200, ['member']],
  ['GET /organizations/{}/change-requests', 200, ['admin', 'role'], '404 Organization not found'],
  ['GET /orders/organizations/{}', 200, ['admin', 'member']],
  ['POST /locations', 201, ['admin'], '404 Location not found'],
  ['GET /locations', 200, 'public'],
  ['GET /locations/{}', 200, 'public', '404 Location not found'],
  ['PATCH /locations/{}', 200, ['admin'], '404 Location not found'],
  ['DELETE /locations/{}', 204, ['admin'], '404 Location not found', '409 Dependent child locations still exist'],
]; // prettier-ignore

/**
 * Everybody but guests may create organizations; and below these paths a missing record is reported first (decisions
 * A17).
 */
const NOT_REFUSED = [
  'categories.delete 404',
  'categories.disable 404',
  'categories.enable 404',
  'categories.patch 404',
  'chat.markRead 404',
  'chat.openDirectChannel 400',
  'organizations.create 400',
];

const app = fixture(startTestServer);
const stranger = fixture(() => app.signUp());
let document: OpenApiDocument;
beforeAll(async () => {
  document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
});

const isOpen = ({ name }: { name: string }) => describedOperations(document).find((one) => one.name === name)?.isOpen;
const withoutNames = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');

describe('the endpoints of the specification', () => {
  it.each(ENDPOINTS.map(([route, ...expected]) => ({ route, expected })))('$route is as specified', ({ route, expected }) => {
    const [status, rules, ...errors] = expected;
    const operations = operationsOf(app.tandem.router);
    const operation = operations.find(({ method, path }) => `${method} ${withoutNames(path)}` === route);
    if (!operation) throw new Error('there is none such');
    const described = document.paths[operation.path]?.[operation.method.toLowerCase()];
    expect(described).toMatchObject({ operationId: operation.name });
    expect(Object.keys(described?.responses ?? {})).toContain(String(status));
    expect(isOpen(operation)).toBe(rules === 'public');
    const declared = errorsOf(operation).map((error) => `${error.status} ${error.message}`);
    const ruled = typeof rules === 'string' ? [] : rules.map((rule) => RULES[rule]);
    for (const text of [...ruled, ...errors])
      expect(declared.some((one) => one.startsWith(text)), `${text}, of ${declared.join('; ')}`).toBe(true); // prettier-ignore
  });
});

/** Ids that do not exist for every path parameter. */
function pathInput(path: string): Record<string, string> {
  return Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, NO_ID]));
}

describe.each(FACES)('every operation over %s', (face) => {
  it('that needs authentication refuses anonymous callers before anything else', async () => {
    for (const { name, path } of operationsOf(app.tandem.router)) {
      if (isOpen({ name })) continue;
      const outcome = await app.call(face, name, pathInput(path));
      expect(outcome, name).toEqual({ ok: false, status: 422, message: 'Missing authorization header' });
    }
  });

  it('with a rule refuses a stranger before reading its input', async () => {
    const ruled = new Set<string>(Object.values(RULES));
    const passed: string[] = [];
    for (const operation of operationsOf(app.tandem.router)) {
      const declared = errorsOf(operation).map(({ status, message }) => `${status} ${message}`);
      if (!declared.some((text) => ruled.has(text))) continue;
      const outcome = (await stranger.call(face, operation.name, pathInput(operation.path))) as { status?: number };
      if (outcome.status !== 403) passed.push(`${operation.name} ${outcome.status}`);
    }
    expect(passed.toSorted()).toEqual(NOT_REFUSED);
  });
});
