import { randomUUID } from 'node:crypto';
import {
  FACES,
  NEW_PASSWORD,
  OK,
  PASSWORD,
  RETURN_URL,
  fixture,
  newEmail,
  newOidcAccount,
  redeem,
  startOidcProvider,
  startTestServer,
  throughProvider,
  type Credentials,
  type OidcAccount,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { sessionModel } from '../authentication/sessions/session.model.js';

const NOT_VERIFIED = { ok: false, status: 403, message: 'Email is not verified' };

const idp = fixture(startOidcProvider);
const settings = () => ({ providers: { acme: idp.settings }, redirectUrls: [RETURN_URL] });
const app = fixture(() => startTestServer(settings()));
/** Another instance, which asks for a second step. */
const twoSteps = fixture(() => startTestServer({ ...settings(), clock: app.clock, mfaEnabled: true }));

const lives = async (id: string, credentials: Credentials, on = app) =>
  (await on.rest('GET', `/identities/${id}`, undefined, credentials)).status === 200;
const { link, list, unlink } = {
  link: ({ id }: { id: string }, { sub }: OidcAccount) =>
    app.tandem.services.identities.providerAccounts.link(
      id,
      { provider: 'acme', subject: sub },
      { _id: 'of the tests', epoch: 0 },
    ),
  list: ({ id }: { id: string }) => app.tandem.services.identities.providerAccounts.list(id),
  unlink: ({ id }: { id: string }) =>
    app.tandem.services.identities.providerAccounts.unlink(id, 'acme', { providers: ['acme'], passkeys: false }),
};
async function linked() {
  const ann = await app.signUp({ isVerified: true });
  const account = newOidcAccount();
  await link(ann, account);
  return { ann, account };
}

describe.each(FACES)('over %s', (face) => {
  const linkInput = ({ id: identityId }: { id: string }) => ({ identityId, provider: 'acme', redirectUrl: RETURN_URL, password: PASSWORD }); // prettier-ignore

  it('whose email is not verified is told of it after who may not at all', async () => {
    const [stranger, ann, owner] = [await app.signUp(), await app.signUp(), await app.signUp()];
    expect(await stranger.call(face, 'auth.linkProvider', linkInput(ann))).toMatchObject({ status: 403, message: 'Identity ID does not match' }); // prettier-ignore
    const organization = { name: randomUUID(), description: '', contact_email: 'a@example.org' };
    const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const refused = await stranger.call(face, 'invitations.create', { email: newEmail(), organizationId });
    expect(refused).toMatchObject({ status: 403, message: expect.not.stringContaining('Email') as string });
  });

  it('an admin needs a verified email too, to link a provider and to invite', async () => {
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    await other.rest('PATCH', `/identities/${admin.id}`, { emailVerified: false }).expect(200);
    expect(await admin.call(face, 'auth.linkProvider', linkInput(admin))).toEqual(NOT_VERIFIED);
    expect(await admin.call(face, 'invitations.create', { email: newEmail() })).toEqual(NOT_VERIFIED);
  });

  it('a password that is changed, and not reset, proves no address and unlinks nothing', async () => {
    const { ann } = await linked();
    const admin = await app.signUpAdmin();
    await admin.rest('PATCH', `/identities/${ann.id}`, { emailVerified: false }).expect(200);
    const change = { identityId: ann.id, password: PASSWORD, newPassword: NEW_PASSWORD };
    expect(await ann.call(face, 'auth.changePassword', change)).toEqual(OK);
    expect(await list(ann)).toHaveLength(1);
    expect(await admin.rest('GET', `/identities/${ann.id}`).expect(200)).toMatchObject({ emailVerified: false });
  });

  it('a session that came by a provider is in no list, and is not spared by a change of email, once that is unlinked', async () => {
    const { ann, account } = await linked();
    const byProvider = await redeem(app, await throughProvider(app, idp, { account }));
    expect(await lives(ann.id, byProvider)).toBe(true);
    const email = newEmail();
    await ann.rest('PATCH', `/auth/${ann.id}/change-email`, { email, password: PASSWORD }).expect(204);
    await unlink(ann);
    expect(await lives(ann.id, byProvider)).toBe(false);
    const shown = await ann.call(face, 'auth.sessions', { identityId: ann.id });
    expect(shown).toMatchObject({ value: { data: [{ isCurrent: true }] } });
    const { token } = await app.mail.next(email);
    expect(await app.call(face, 'auth.confirmNewEmail', { token }, byProvider)).toEqual(OK);
    expect(await lives(ann.id, byProvider)).toBe(false);
  });

  it('a session that confirmed one change of email goes on after the next that it confirms', async () => {
    const ann = await app.signUp({ isVerified: true });
    for (const email of [newEmail(), newEmail()]) {
      await ann.rest('PATCH', `/auth/${ann.id}/change-email`, { email, password: PASSWORD }).expect(204);
      const { token } = await app.mail.next(email);
      expect(await app.call(face, 'auth.confirmNewEmail', { token }, ann.credentials)).toEqual(OK);
      expect(await lives(ann.id, ann.credentials)).toBe(true);
    }
  });

  it('a second step on the way through a provider ends with its link, and so does the session that it leads to', async () => {
    const { ann, account } = await linked();
    async function challenge() {
      const { token } = (await redeem(twoSteps, await throughProvider(twoSteps, idp, { account }))) as unknown as {
        token: string;
      };
      return { token, code: (await twoSteps.mail.next(ann.email, ({ code }) => code !== undefined)).code };
    }
    const verify = async () => twoSteps.call(face, 'auth.mfaVerify', await challenge());
    const { value: session } = (await verify()) as { value: { accessToken: string } };
    expect(await lives(ann.id, session, twoSteps)).toBe(true);
    const pending = await challenge();
    await unlink(ann);
    expect(await twoSteps.call(face, 'auth.mfaVerify', pending)).toMatchObject({ status: 401, message: 'token could not be verified' }); // prettier-ignore
    await expect.poll(() => lives(ann.id, session, twoSteps)).toBe(false);
  });

  it('a session that has ended on another instance is no fresh proof', async () => {
    const { ann } = await linked();
    expect(await lives(ann.id, ann.credentials)).toBe(true);
    await app.storage.model(sessionModel).collection.deleteMany({ identityId: ann.id });
    expect(await ann.call(face, 'auth.unlinkProvider', { identityId: ann.id, provider: 'acme' })).toMatchObject({ ok: false });
    expect(await list(ann)).toHaveLength(1);
  });
});

it('another account of a provider that is linked meanwhile is refused as linked already', async () => {
  const { ann } = await linked();
  await expect(link(ann, newOidcAccount())).rejects.toThrow('Provider account already linked');
});
