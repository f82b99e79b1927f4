import { readFileSync } from 'node:fs';
import { operationsOf } from '@tandem/core';
import { PASSWORD, RETURN_URL, fixture, startOidcProvider, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { ATTACKS, FINGERPRINT, HOLDINGS, type Held, type Holding } from './attacks.js';
import { fileOf, generatedPart } from './generated-part.js';
import { formatted, table } from './tables.js';

const PAGE = 'docs/authentication.md';

const idp = fixture(startOidcProvider);
const settings = () => ({ providers: { acme: idp.settings }, redirectUrls: [RETURN_URL] });
const app = fixture(() => startTestServer(settings()));
const withCodes = fixture(() => startTestServer({ ...settings(), clock: app.clock, mfaEnabled: true }));

/** A person, signed in eleven minutes ago. */
async function newVictim(on: (typeof ATTACKS)[number]['on']) {
  const { email } = await app.signUp({ isVerified: true });
  const fingerprint = on === 'fingerprints' ? { fingerprint: FINGERPRINT } : {};
  const server = on === 'codes' ? withCodes : app;
  let body = (await server.rest('POST', '/auth/login', { email, password: PASSWORD, ...fingerprint }).expect(200)) as { id?: string; accessToken?: string; token?: string }; // prettier-ignore
  if (body.token !== undefined) {
    const { code } = await server.mail.next(email, (mail) => mail.code !== undefined);
    body = await server.rest('POST', '/auth/mfa/verify', { token: body.token, code }).expect(200);
  }
  server.clock.advance(11 * 60_000);
  return { server, id: body.id ?? '', email, credentials: { accessToken: body.accessToken, ...fingerprint } };
}

const HELD: Record<Holding, (victim: Awaited<ReturnType<typeof newVictim>>) => Held> = {
  'the mailbox': () => ({ mailbox: true }),
  'the password': () => ({ password: PASSWORD }),
  'a session': ({ credentials }) => ({ session: credentials }),
};

describe.each(ATTACKS)('to $tries', ({ on, cells, run }) => {
  it.each(HOLDINGS)('with %s', async (holding) => {
    const { server, ...victim } = await newVictim(on);
    const could = await run({ server, idp, victim, ...HELD[holding]({ server, ...victim }) });
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
    const sessions = routes().filter(({ name }) => /^auth\.(login|ottLogin|mfa\w*|refreshToken|startOauth|finishOauth\w*|register|resetPassword|createKey)$/.test(name)); // prettier-ignore
    expect(sessions.length).toBeGreaterThan(9);
    for (const { route } of sessions) expect(shown).toContain(route);
  });
});
