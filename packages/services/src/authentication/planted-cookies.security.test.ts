import { operationsOf } from '@tandem/core';
import { FACES, PASSWORD, cookiesOf, fixture, sendRaw, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { sessionModel } from './sessions/session.model.js';

const EVIL = 'https://evil.example';
const ELSEWHERE = { status: 403, message: 'Origin is not allowed' };
const NOBODY = '01890000-0000-7000-8000-000000000000';

const app = fixture(() => startTestServer({ authModes: { default: 'cookie' }, publicUrl: 'https://app.example.org' }));
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const eve = fixture(() => app.signUp());

const cookieOf = (tokens: Record<string, string>) =>
  Object.entries(tokens).map(([name, value]) => `${name}=${value}`).join('; '); // prettier-ignore
const messageOf = (body: unknown) => (body as { error?: { message: string } } | undefined)?.error?.message;
const whoAmI = async (person: Person, cookie: string) => {
  const { status, body } = await sendRaw(`${app.url}/identities/${person.id}`, { headers: ['cookie', cookie] });
  return { status, message: messageOf(body) };
};
const sessionsOf = ({ id }: Person) => app.storage.model(sessionModel).countDocuments({ identityId: id });

describe('from another origin, with the cookies of an admin,', () => {
  it('every procedure that changes state is refused over REST and tRPC, by Origin or by Referer alone', async () => {
    const changes = operationsOf(app.tandem.router).filter(({ procedure }) => procedure._def.type === 'mutation');
    expect(changes.length).toBeGreaterThan(25);
    const sources = [['origin', EVIL], ['referer', `${EVIL}/page`], ['origin', 'null'], ['origin', EVIL, 'referer', 'https://app.example.org/']]; // prettier-ignore
    for (const { name, method, path } of changes) {
      const ways = [[method, path.replace(/\{\w+\}/g, NOBODY)], ['POST', `/trpc/${name}`]] as const; // prettier-ignore
      for (const [verb, address] of ways) {
        for (const source of sources) {
          const headers = ['cookie', admin.credentials.headers?.cookie ?? '', ...source];
          const { status, headers: answered, body } = await sendRaw(app.url + address, { method: verb, headers, body: '{}' });
          expect({ status, message: messageOf(body) }, `${name} ${source.join()}`).toEqual(ELSEWHERE);
          expect(answered['set-cookie'], name).toBeUndefined();
        }
      }
    }
  });

  it('no form can change state: not by GET, by another content type, or in a batch', async () => {
    const cookie = admin.credentials.headers?.cookie ?? '';
    const input = JSON.stringify({ identityId: ann.id });
    const query = encodeURIComponent(input);
    for (const origin of [[], ['origin', EVIL]]) {
      const headers = ['cookie', cookie, ...origin];
      const byGet = await sendRaw(`${app.url}/trpc/identities.lock?input=${query}`, { headers });
      expect([byGet.status, messageOf(byGet.body)]).toEqual([405, 'Method Not Allowed']);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      for (const path of ['/trpc/identities.lock', `/identities/${ann.id}/lock`, '/auth/login']) {
        const answer = await fetch(app.url + path, { method: 'POST', headers: { cookie, origin: EVIL, 'content-type': type }, body: input }); // prettier-ignore
        expect([answer.status, messageOf(await answer.json())], `${type} ${path}`).toEqual([403, 'Origin is not allowed']);
      }
    }
    const batch = await fetch(`${app.url}/trpc/identities.lock,auth.login?batch=1`, {
      method: 'POST',
      headers: { cookie, origin: EVIL, 'content-type': 'application/json' },
      body: JSON.stringify({ 0: { identityId: ann.id }, 1: { email: eve.email, password: PASSWORD } }),
    });
    const said = (await batch.json()) as { error: { data: { httpStatus: number } } }[];
    expect(said.map(({ error }) => error.data.httpStatus)).toEqual([403, 403]);
    expect(batch.headers.getSetCookie()).toEqual([]);
    expect((await whoAmI(ann, ann.credentials.headers?.cookie ?? '')).status).toBe(200);
  });
});

describe('cookies planted before a login', () => {
  it('are replaced by it: the earlier session neither stays in the browser nor becomes the person’s', async () => {
    const [before, beforeOfEve] = [await sessionsOf(ann), await sessionsOf(eve)];
    for (const planted of [
      cookieOf({ accessToken: eve.accessToken, refreshToken: eve.refreshToken }),
      cookieOf({ accessToken: 'chosen', refreshToken: 'chosen' }),
    ]) {
      // prettier-ignore
      const answer = await app.rest('POST', '/auth/login', { email: ann.email, password: PASSWORD }, { headers: { cookie: planted } });
      expect(answer.body).toEqual({ id: ann.id });
      const given = cookiesOf(answer);
      expect([eve.accessToken, 'chosen']).not.toContain(given.accessToken);
      expect((await whoAmI(ann, cookieOf(given))).status).toBe(200);
      expect((await whoAmI(ann, planted)).status).not.toBe(200);
    }
    expect([await sessionsOf(ann), await sessionsOf(eve)]).toEqual([before + 2, beforeOfEve]);
  });

  it('are replaced by a sign-in with a one-time token too', async () => {
    const { token } = await app.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' });
    const headers = { cookie: cookieOf({ accessToken: eve.accessToken, refreshToken: eve.refreshToken }) };
    const answer = await app.rest('POST', '/auth/ott/login', { token }, { headers });
    expect([answer.status, answer.body]).toEqual([200, { id: ann.id }]);
    expect((await whoAmI(ann, cookieOf(cookiesOf(answer)))).status).toBe(200);
  });
});

describe.each(FACES)('over %s, a browser', (face) => {
  const refresh = (cookie: string) => app.call(face, 'auth.refreshToken', {}, { headers: { cookie } });

  it('does not switch identity by a planted refresh cookie, which is not consumed', async () => {
    const [mine, planted] = [await app.signIn(ann.email), await app.signIn(eve.email)];
    const unverified = { ok: false, status: 401, message: 'token could not be verified' };
    expect(await refresh(cookieOf({ accessToken: mine.accessToken, refreshToken: planted.refreshToken }))).toEqual(unverified);
    app.clock.advance(20 * 60_000);
    expect(await refresh(cookieOf({ accessToken: mine.accessToken, refreshToken: planted.refreshToken }))).toEqual(unverified);
    for (const { accessToken, refreshToken } of [mine, planted])
      expect(await refresh(cookieOf({ accessToken, refreshToken }))).toMatchObject({ ok: true });
    const another = await app.signIn(ann.email);
    expect(await refresh(cookieOf({ accessToken: 'garbage', refreshToken: another.refreshToken }))).toMatchObject({ ok: true });
  });

  it('that sends a cookie twice with two values is treated as sending none', async () => {
    const [mine, planted] = [await app.signIn(ann.email), await app.signIn(eve.email)];
    const get = (cookie: string) => app.call(face, 'identities.get', { identityId: ann.id }, { headers: { cookie } });
    const both = (name: 'accessToken' | 'refreshToken', order: Person[]) =>
      order.map((person) => `${name}=${person[name]}`).join('; ');
    const orders = [[mine, planted], [planted, mine], [mine, mine, planted]]; // prettier-ignore
    for (const order of orders) {
      expect(await get(both('accessToken', order))).toMatchObject({ status: 401, message: 'Unable to detect access token' });
      expect(await refresh(both('refreshToken', order))).toMatchObject({ status: 422, message: 'Unable to find refresh token' });
    }
    expect(await get(both('accessToken', [mine, mine]))).toMatchObject({ ok: true });
    expect(await get(`accessToken=; accessToken=${mine.accessToken}`)).toMatchObject({ status: 401 });
    expect(await refresh(both('refreshToken', [mine, mine]))).toMatchObject({ ok: true });
    expect(await refresh(`refreshToken=${planted.refreshToken}`)).toMatchObject({ ok: true });
  });
});
