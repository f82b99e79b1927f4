import { randomUUID } from 'node:crypto';
import {
  PASSWORD,
  RETURN_URL,
  createBrowser,
  fixture,
  isCommand,
  newOidcAccount,
  startOidcProvider,
  startStoreProxy,
  startTestServer,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const idp = fixture(startOidcProvider);
const app = fixture(startTestServer);
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
/** Another instance, whose commands to the store can be held. */
const stalling = fixture(() => {
  const providers = { acme: idp.settings };
  return startTestServer({ mongodbUri: proxy.uri, clock: app.clock, providers, redirectUrls: [RETURN_URL] });
});

/** Links a provider, and does something else when all has been checked and only the write is missing. @returns where the browser is sent */
async function linkAround(person: Person, meanwhile: () => Promise<unknown>): Promise<string> {
  const browser = createBrowser(stalling);
  const headers = { authorization: `Bearer ${person.accessToken}` };
  const given = { redirectUrl: RETURN_URL, password: PASSWORD };
  const { body } = await browser.send('POST', `${stalling.url}/auth/${person.id}/oauth/acme`, given, headers);
  const callback = await idp.visit(browser, (body as { url: string }).url, { account: newOidcAccount() });
  const { reached, release } = proxy.hold(isCommand('identities.update'));
  const back = browser.goTo(callback);
  await reached;
  await meanwhile();
  release();
  return back;
}
const linkedOf = ({ id }: Person) => app.tandem.services.identities.providerAccounts.list(id);

/** Changes the email on the other instance, and confirms it in this session. */
async function changeEmail(person: Person, { credentials }: Person): Promise<void> {
  const email = `${randomUUID()}@example.org`;
  await person.rest('PATCH', `/auth/${person.id}/change-email`, { email, password: PASSWORD }).expect(204);
  const { token } = await app.mail.next(email);
  await app.rest('POST', '/auth/confirm-new-email', { token }, credentials).expect(204);
}

describe('a link that is about to be stored', () => {
  const endings: [string, (ann: Person) => Promise<unknown>][] = [
    ['confirms another email elsewhere', async (ann) => changeEmail(ann, await app.signIn(ann.email))],
    [
      'changes the password',
      (ann) =>
        ann.rest('PATCH', `/auth/${ann.id}/change-password`, { password: PASSWORD, newPassword: `${PASSWORD} 2` }).expect(204),
    ],
    ['is locked', async (ann) => (await app.signUpAdmin()).rest('POST', `/identities/${ann.id}/lock`).expect(204)],
  ];
  it.each(endings)('is not stored when the person %s at that moment', async (_, end) => {
    const ann = await app.signUp({ isVerified: true });
    expect(await linkAround(ann, () => end(ann))).toBe(`${RETURN_URL}?error=signed_out`);
    expect(await linkedOf(ann)).toEqual([]);
  });

  it('comes back as signed out when the person is deleted at that moment', async () => {
    const [ann, admin] = [await app.signUp({ isVerified: true }), await app.signUpAdmin()];
    const back = await linkAround(ann, () => admin.rest('DELETE', `/identities/${ann.id}`).expect(204));
    expect(back).toBe(`${RETURN_URL}?error=signed_out`);
  });

  it('is stored when its own session confirms the change of email, and goes on', async () => {
    const ann = await app.signUp({ isVerified: true });
    expect(await linkAround(ann, () => changeEmail(ann, ann))).toBe(`${RETURN_URL}?linked=acme`);
    expect(await linkedOf(ann)).toHaveLength(1);
  });
});
