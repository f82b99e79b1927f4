import { readFileSync } from 'node:fs';
import { operationsOf } from '@tandem/core';
import {
  PASSWORD,
  RETURN_URL,
  createPasskey,
  createTotpApp,
  fixture,
  startOidcProvider,
  startTestServer,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { FINGERPRINT, HOLDINGS, PASSKEY_ORIGIN, type Held, type Holding } from './attack-steps.js';
import { ATTACKS } from './attacks.js';
import { fileOf, generatedPart } from './generated-part.js';
import { formatted, table } from './tables.js';

const PAGE = 'docs/authentication.md';

const idp = fixture(startOidcProvider);
const settings = () => ({
  providers: { acme: idp.settings },
  redirectUrls: [RETURN_URL],
  passkeyRpId: 'localhost',
  corsOrigins: [PASSKEY_ORIGIN],
});
const app = fixture(() => startTestServer(settings()));
const withCodes = fixture(() => startTestServer({ ...settings(), clock: app.clock, mfaEnabled: true }));

/** The factors that a person has added, on a phone. */
async function newPhone(person: Person, { withPasskey }: { withPasskey: boolean }): Promise<NonNullable<Held['phone']>> {
  const factors = `/auth/${person.id}/factors`;
  const { id, secret } = await person.rest('POST', `${factors}/totp`, {}).expect<{ id: string; secret: string }>(201);
  const code = createTotpApp(secret, app.clock);
  await person.rest('POST', `${factors}/${id}/confirm`, { code: code() }).expect(204);
  if (!withPasskey) return { code };
  const passkey = createPasskey(PASSKEY_ORIGIN);
  const options = await person.rest('POST', `${factors}/passkeys/options`).expect<Parameters<typeof passkey.create>[0]>(200);
  await person.rest('POST', `${factors}/passkeys`, { response: passkey.create(options) }).expect(201);
  return { code, passkey };
}

/** A person, signed in eleven minutes ago. Whose phone an attacker has, has factors on it; else where the row says so. */
async function newVictim(on: (typeof ATTACKS)[number]['on'], holding: Holding) {
  const person = await app.signUp({ isVerified: true });
  const { email } = person;
  const hasFactors = on === 'app' || on === 'passkey' || holding === 'the phone';
  const phone = hasFactors ? await newPhone(person, { withPasskey: on !== 'app' }) : undefined;
  const fingerprint = on === 'fingerprints' ? { fingerprint: FINGERPRINT } : {};
  const server = on === 'codes' ? withCodes : app;
  let body = (await server.rest('POST', '/auth/login', { email, password: PASSWORD, ...fingerprint }).expect(200)) as { id?: string; accessToken?: string; token?: string }; // prettier-ignore
  if (body.token !== undefined && phone) {
    server.clock.advance(30_000);
    body = await server.rest('POST', '/auth/mfa/verify', { token: body.token, code: phone.code() }).expect(200);
  } else if (body.token !== undefined) {
    const { code } = await server.mail.next(email, (mail) => mail.code !== undefined);
    body = await server.rest('POST', '/auth/mfa/verify', { token: body.token, code }).expect(200);
  }
  server.clock.advance(11 * 60_000);
  return { server, phone, id: body.id ?? '', email, credentials: { accessToken: body.accessToken, ...fingerprint } };
}

const HELD: Record<Holding, (victim: Awaited<ReturnType<typeof newVictim>>) => Held> = {
  'the mailbox': () => ({ mailbox: true }),
  'the password': () => ({ password: PASSWORD }),
  'the phone': ({ phone }) => ({ ...(phone && { phone }) }),
  'a session': ({ credentials }) => ({ session: credentials }),
};

describe.each(ATTACKS)('to $tries', ({ on, cells, run }) => {
  it.each(HOLDINGS)('with %s', async (holding) => {
    const victim = await newVictim(on, holding);
    const could = await run({ server: victim.server, idp, victim, ...HELD[holding](victim) });
    expect(could ? 'yes' : 'no').toBe(cells[holding][0]);
  });
});

it(`${PAGE} has this table`, async () => {
  const rows = ATTACKS.map(({ tries, cells }) => [
    tries,
    ...HOLDINGS.map((holding) => {
      const [can, note] = cells[holding];
      return `${can === 'no' ? '**no**' : can}${note === undefined ? '' : `: ${note}`}`;
    }),
  ]);
  const all = await formatted(table([['With', ...HOLDINGS], ...rows]));
  expect(generatedPart(PAGE, 'attacks', all)).toBe(all);
});

describe('the pictures of the ways in', () => {
  const pictures = [...readFileSync(fileOf(PAGE), 'utf8').matchAll(/```mermaid\n([^]*?)```/g)].map(([, picture = '']) => picture);
  const shown = pictures.flatMap((picture) => [...picture.matchAll(/\b(GET|POST|DELETE) (\/[\w/{}:-]*)/g)].map(([, method, path]) => `${method} ${path}`)); // prettier-ignore
  const routes = () => operationsOf(app.tandem.router).map(({ name, method, path }) => ({ name, route: `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}` })); // prettier-ignore

  it('name routes that exist', () => {
    const known = routes().map(({ route }) => route);
    expect(shown.length).toBeGreaterThan(10);
    for (const route of shown) expect(known).toContain(route);
  });

  it('show every operation that answers a session, or what leads to one', () => {
    const sessions = routes().filter(({ name }) => /^auth\.(login|ottLogin|mfa\w*|passkeySignIn\w*|prove|refreshToken|startOauth|finishOauth\w*|register|resetPassword|createKey)$/.test(name)); // prettier-ignore
    expect(sessions.length).toBeGreaterThan(9);
    for (const { route } of sessions) expect(shown).toContain(route);
  });
});
