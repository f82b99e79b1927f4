import { PASSWORD, createPasskey, createTotpApp, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createClient, failureOf } from '../test/clients.js';
import { MfaRequiredError } from './index.js';

const app = fixture(startTestServer);

describe('a second step', () => {
  it('is requested by an error of its own, with what is needed to finish the sign-in', async () => {
    await using withMfa = await startTestServer({ mfaEnabled: true });
    const ann = await app.signUp();
    const { client, tokens } = createClient(withMfa, { fingerprint: 'device 1' });
    const asked = await client.signIn({ email: ann.email, password: PASSWORD }).catch((error: unknown) => error);
    expect(asked).toBeInstanceOf(MfaRequiredError);
    expect(tokens.load()).toBeUndefined();
    const { token } = asked as MfaRequiredError;
    expect(await failureOf(client.resendMfa(token))).toMatchObject({ status: 429 });
    const { code = '' } = await withMfa.mail.next(ann.email);
    expect(await failureOf(client.verifyMfa({ token, code: 'wrong' }))).toMatchObject({ status: 400, message: 'Invalid MFA code provided.' }); // prettier-ignore
    expect(await client.verifyMfa({ token, code })).toEqual({ id: ann.id });
    expect(await client.api.notifications.unreadCount.query({ identityId: ann.id })).toEqual({ unread: 0 });
  });

  it('sends another code after half a minute', async () => {
    await using withMfa = await startTestServer({ mfaEnabled: true });
    const ann = await app.signUp();
    const { client } = createClient(withMfa);
    const asked = (await client
      .signIn({ email: ann.email, password: PASSWORD })
      .catch((error: unknown) => error)) as MfaRequiredError;
    await withMfa.mail.next(ann.email);
    withMfa.clock.advance(30_000);
    const token = await client.resendMfa(asked.token);
    const { code = '' } = await withMfa.mail.next(ann.email);
    expect(await client.verifyMfa({ token, code })).toEqual({ id: ann.id });
  });
});

describe('factors', () => {
  const origin = 'http://localhost:5173';
  const withPasskeys = fixture(() => startTestServer({ passkeyRpId: 'localhost', corsOrigins: [origin] }));

  it('are what the error of a first step names, and finish the sign-in', async () => {
    const ann = await withPasskeys.signUp();
    const { client, tokens } = createClient(withPasskeys, { fingerprint: 'device 1' });
    await client.signIn({ email: ann.email, password: PASSWORD });
    const { auth } = client.api;
    const identityId = ann.id;
    const passkey = createPasskey(origin);
    await auth.addPasskey.mutate({
      identityId,
      response: passkey.create(await auth.passkeyOptions.mutate({ identityId })) as never,
    });
    const { id: factorId, secret } = await auth.addTotp.mutate({ identityId });
    const code = createTotpApp(secret, withPasskeys.clock);
    await auth.confirmTotp.mutate({ identityId, factorId, code: code() });
    await client.signOut();

    const challenge = async () =>
      (await client.signIn({ email: ann.email, password: PASSWORD }).catch((error: unknown) => error)) as MfaRequiredError;
    const { token, factors, message } = await challenge();
    expect([factors, message]).toEqual([['totp', 'passkey'], 'a factor is needed: finish with verifyMfa']);
    expect(await client.verifyMfa({ token, code: code(1) })).toEqual({ id: ann.id });
    await client.signOut();
    const again = (await challenge()).token;
    const response = passkey.get(await auth.mfaPasskeyOptions.mutate({ token: again })) as never;
    expect(await client.verifyMfa({ token: again, response })).toEqual({ id: ann.id });
    await client.signOut();
    const answer = passkey.get(await auth.passkeySignInOptions.mutate({})) as never;
    expect(await client.signInByPasskey({ response: answer })).toEqual({ id: ann.id });
    expect(tokens.load()).toMatchObject({ identityId: ann.id });
    expect(await failureOf(client.signInByPasskey({ response: answer }))).toMatchObject({
      status: 401,
      message: 'Passkey could not be verified',
    });
  });
});
