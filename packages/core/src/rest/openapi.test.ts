import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { documentOf, meta, operation } from '../../test/described-app.js';
import { authenticationErrors, publicProcedure, router, type ErrorDefinition } from '../index.js';

describe('the OpenAPI document', () => {
  it('says who may call each operation, in its description and as a field', async () => {
    const said = async (method: string, path: string) => (await operation(method, path))?.['x-who'];
    expect([await said('get', '/secrets'), await said('put', '/things')]).toEqual(['anybody who is signed in', 'anybody']);
    expect(await said('put', '/secrets')).toBe('anybody but a guest; an admin');
    expect(await operation('delete', '/secrets')).toMatchObject({
      description: 'Who may call it: anybody but a guest; an admin or the identity that ownerId names.',
      'x-who': 'anybody but a guest; an admin or the identity that ownerId names',
    });
  });

  it('names its server and the ways to sign in', async () => {
    const document = await documentOf();
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Things', description: 'Of a test.', version: '1.2.3' },
      servers: [{ url: 'https://api.example.org' }],
    });
    expect(document.components['securitySchemes']).toEqual({
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description: expect.stringMatching(/^The access token, or an API key/) as unknown,
      },
      cookie: { type: 'apiKey', in: 'cookie', name: 'accessToken', description: 'The access token in cookie mode.' },
    });
    expect((await documentOf({ cookiePrefix: '__Host-' })).components['securitySchemes']).toMatchObject({
      cookie: { name: '__Host-accessToken' },
    });
  });

  it('declares only the ways to sign in that operations name', async () => {
    const { securitySchemes } = (await documentOf({ authModeOf: () => 'cookie' })).components;
    expect(Object.keys(securitySchemes as object)).toEqual(['bearer', 'cookie']);
    const all = (await documentOf({ authModeOf: () => 'bearer' })).components;
    expect(Object.keys(all['securitySchemes'] as object)).toEqual(['bearer']);
  });

  it('has every procedure with a route, by its tRPC name and service', async () => {
    const all = Object.values((await documentOf()).paths).flatMap((path) => Object.values(path));
    const service = (name: string) => name.split('.', 1);
    expect(all.map(({ tags }) => tags)).toEqual(all.map(({ operationId }) => service(operationId)));
    expect(all.map(({ operationId }) => operationId).toSorted()).toEqual([
      'secrets.change',
      'secrets.delete',
      'secrets.read',
      'things.change',
      'things.clear',
      'things.create',
      'things.list',
      'things.read',
      'things.remove',
    ]);
  });

  it('gives the security of each service by its mode, none where there is no caller', async () => {
    expect((await operation('get', '/things/{id}'))?.security).toEqual([]);
    expect((await operation('post', '/things'))?.security).toEqual([{ bearer: [] }]);
    expect((await operation('get', '/secrets'))?.security).toEqual([{ cookie: [] }, { bearer: [] }]);
  });

  it('has an optional token where one may be refused but none is required, and likewise the fingerprint', async () => {
    const { malformedHeader, malformedFingerprint } = authenticationErrors;
    const ends = (route: `POST /${string}`, errors: ErrorDefinition[]) => publicProcedure.meta(meta(route, { errors })).output(z.void()).mutation(() => {}); // prettier-ignore
    const app = router({ token: ends('POST /token', [malformedHeader]), device: ends('POST /device', [malformedFingerprint]) });
    const { paths } = await documentOf({ app });
    expect(paths['/token']?.post).toMatchObject({ security: [{ bearer: [] }, {}] });
    expect(paths['/token']?.post).not.toHaveProperty('parameters');
    expect(paths['/device']?.post).toMatchObject({ security: [], parameters: [{ name: 'x-nb-fingerprint', in: 'header' }] });
    expect((await operation('get', '/secrets'))?.parameters).toEqual([{ $ref: '#/components/parameters/x-nb-fingerprint' }]);
  });

  it('has the contact, the licence and what services are for, as the host says', async () => {
    const contact = { name: 'Ann', email: 'ann@example.org' };
    const license = { name: 'MIT', identifier: 'MIT' };
    const tags = [
      { name: 'things', description: 'Things.' },
      { name: 'nothing', description: 'Nothing.' },
    ];
    expect(await documentOf({ contact, license, tags })).toMatchObject({ info: { contact, license } });
    expect((await documentOf({ tags })).tags).toEqual([{ name: 'secrets' }, { name: 'things', description: 'Things.' }]);
  });
});
