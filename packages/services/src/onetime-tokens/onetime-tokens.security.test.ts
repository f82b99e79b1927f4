import { FACES, fixture, startTestServer, type Face } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { onetimeTokenModel } from './onetime-token.model.js';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());

/** Generates a token with data as they are written here: JSON text, which may say what no object literal can. */
async function generate(face: Face, data: string) {
  const path = face === 'rest' ? '/auth/ott/generate' : '/trpc/auth.ottGenerate';
  const headers = { authorization: `Bearer ${admin.accessToken}`, 'content-type': 'application/json' };
  const body = `{"identityId":"${ann.id}","data":${data}}`;
  const response = await fetch(app.url + path, { method: 'POST', headers, body });
  const answer = (await response.json()) as {
    onetimeToken?: string;
    result?: { data: { onetimeToken: string } };
    error?: { message: string; data: unknown };
  };
  return { status: response.status, token: answer.onetimeToken ?? answer.result?.data.onetimeToken, error: answer.error };
}

describe.each(FACES)('data of a one-time token over %s', (face) => {
  it.each([
    '{"$ne":null}',
    '{"$set":{"state":"generated"}}',
    '{"a":{"$gt":""},"b.c":1,"":2}',
    '{"state":"restored","target":"reset-password","subject":"x","epoch":0}',
    '{"_bsontype":"ObjectId"}',
    '{"a":{"_bsontype":"Code","code":"while(true){}"}}',
    '{"a\\u0000b":"c\\u0000d"}',
    '{"constructor":{"prototype":{"x":1}},"toJSON":1,"toBSON":1}',
    `{"a":${'['.repeat(500)}${']'.repeat(500)}}`,
  ])('are data, whatever they look like: %s', async (data) => {
    const { status, token } = await generate(face, data);
    expect(status).toBeLessThan(202);
    const checked = await app.call(face, 'auth.checkToken', { token });
    expect(checked).toMatchObject({ ok: true, value: { identityId: ann.id, target: 'login' } });
    expect((checked as { value: { data: unknown } }).value.data).toEqual(JSON.parse(data));
    expect(await app.call(face, 'auth.ottLogin', { token })).toMatchObject({ ok: true });
  });

  it('create no prototype', async () => {
    const { token } = await generate(face, '{"__proto__":{"isAdmin":true},"a":1}');
    const { value } = (await app.call(face, 'auth.checkToken', { token })) as { value: { data: { isAdmin?: boolean } } };
    expect([value.data.isAdmin, ({} as { isAdmin?: boolean }).isAdmin]).toEqual([undefined, undefined]);
  });

  it('are refused if too large, deep or wide, without internal text', async () => {
    const before = await app.storage.model(onetimeTokenModel).countDocuments();
    const tooMuch = ['['.repeat(30_000) + ']'.repeat(30_000), `[${'1,'.repeat(30_000)}1]`, `"${'x'.repeat(2000)}"`];
    for (const value of tooMuch) {
      const { status, error } = await generate(face, `{"a":${value}}`);
      expect([status, error?.message]).toEqual([400, 'Validation Error']);
      expect(JSON.stringify(error)).not.toContain('stack');
    }
    expect(await app.storage.model(onetimeTokenModel).countDocuments()).toBe(before);
  });
});
