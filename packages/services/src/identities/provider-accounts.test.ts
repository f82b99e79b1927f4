import { randomUUID } from 'node:crypto';
import { PASSWORD, fixture, newEmail, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { identityModel } from './identity.model.js';
import type { ProviderAccount } from './provider-accounts.js';

const app = fixture(startTestServer);

const TIMES = Array.from({ length: 20 }, (_, n) => n);
const USABLE = { providers: ['google', 'line'], passkeys: false };
const newAccount = (provider = 'google'): ProviderAccount => ({ provider, subject: randomUUID() });
const identities = () => app.tandem.services.identities;
const accounts = () => identities().providerAccounts;
/** As a session does that no change of the identity has ended. */
const link = (id: string, account: ProviderAccount) => accounts().link(id, account, { _id: 'of the tests', epoch: 0 });
/** An identity made through a provider. */
async function create(account = newAccount()) {
  const email = newEmail();
  const { id } = await identities().createByAccount({ email, emailVerified: true, typeId: 'regular' }, account);
  return { id, email, account };
}
/** The messages of what failed. */
async function failuresOf(attempts: Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(attempts);
  return results.flatMap((result) => (result.status === 'rejected' ? [(result.reason as Error).message] : []));
}

describe('an identity made through a provider', () => {
  it('is found by its account, and shown without it', async () => {
    const { id, account } = await create();
    expect(await accounts().identityOf(account)).toMatchObject({ id });
    expect(await accounts().identityOf(newAccount())).toBeUndefined();
    const admin = await app.signUpAdmin();
    const shown = await admin.rest('GET', `/identities/${id}`).expect<object>(200);
    expect(shown).not.toHaveProperty('providers');
    expect(await accounts().list(id)).toEqual([{ provider: 'google', linkedAt: expect.any(Date) }]);
  });

  it('has no password: none signs in', async () => {
    const { email } = await create();
    for (const password of [PASSWORD, 'undefined', 'null', ' '])
      await app.rest('POST', '/auth/login', { email, password }).expect(401, 'wrong credentials provided');
  });

  it('is created once, even if many requests race', async () => {
    const account = newAccount();
    const make = () => identities().createByAccount({ email: newEmail(), typeId: 'regular' }, account);
    const failures = await failuresOf(TIMES.map(make));
    expect(failures).toEqual(Array.from({ length: 19 }, () => 'Provider account already linked'));
  });

  it('frees its account when deleted, and can be restored only while nobody has taken it', async () => {
    const admin = await app.signUpAdmin();
    const { id, account } = await create();
    await admin.rest('DELETE', `/identities/${id}`).expect(204);
    expect(await accounts().identityOf(account)).toBeUndefined();
    const successor = await create(account);
    await admin.rest('POST', `/identities/${id}/restore`).expect(409, 'Provider account already linked');
    await admin.rest('DELETE', `/identities/${successor.id}`).expect(204);
    await admin.rest('POST', `/identities/${id}/restore`).expect(200);
    expect(await accounts().identityOf(account)).toMatchObject({ id });
  });
});

describe('linking a provider account', () => {
  it('adds it, the same one again without a change', async () => {
    const { id } = await app.signUp({ isVerified: true });
    const account = newAccount();
    await Promise.all(TIMES.map(() => link(id, account)));
    expect(await accounts().list(id)).toHaveLength(1);
    expect(await accounts().identityOf(account)).toMatchObject({ id });
  });

  it('gives an account to one of 20 concurrent calls', async () => {
    const account = newAccount();
    const people = await Promise.all(TIMES.map(() => create(newAccount('line'))));
    const failures = await failuresOf(people.map(({ id }) => link(id, account)));
    expect(failures).toEqual(Array.from({ length: 19 }, () => 'Provider account already linked'));
  });

  it('takes one account of a provider, and of several providers one each', async () => {
    const { id } = await app.signUp({ isVerified: true });
    const failures = await failuresOf(TIMES.map(() => link(id, newAccount())));
    expect(failures).toHaveLength(19);
    await link(id, newAccount('line'));
    expect((await accounts().list(id)).map(({ provider }) => provider)).toEqual(['google', 'line']);
  });

  it('never confuses accounts with similar names', async () => {
    const { id } = await create({ provider: 'a', subject: 'b:c' });
    for (const account of [
      { provider: 'a', subject: 'b' },
      { provider: 'a', subject: 'B:c' },
      { provider: 'b', subject: 'c' },
    ])
      expect(await accounts().identityOf(account)).toBeUndefined();
    expect(await accounts().identityOf({ provider: 'a', subject: 'b:c' })).toMatchObject({ id });
  });

  it('fails where there is no such identity', async () => {
    await expect(link(randomUUID(), newAccount())).rejects.toThrow('Identity not found');
    await expect(accounts().list(randomUUID())).rejects.toThrow('Identity not found');
  });
});

describe('unlinking a provider', () => {
  it('leaves an identity with a password, and is refused where nothing is linked', async () => {
    const { id } = await app.signUp({ isVerified: true });
    const account = newAccount();
    await link(id, account);
    await accounts().unlink(id, 'google', USABLE);
    expect(await accounts().identityOf(account)).toBeUndefined();
    await expect(accounts().unlink(id, 'google', USABLE)).rejects.toThrow('Provider account not linked');
    await link(id, newAccount());
  });

  it('never removes the only way to sign in, even if all are unlinked at once', async () => {
    const { id } = await create(newAccount('line'));
    await expect(accounts().unlink(id, 'line', USABLE)).rejects.toThrow('Provider account is the only way to sign in');
    await link(id, newAccount('google'));
    const failures = await failuresOf(
      ['line', 'google', 'line', 'google'].map((provider) => accounts().unlink(id, provider, USABLE)),
    );
    expect(failures).toHaveLength(3);
    expect(await accounts().list(id)).toHaveLength(1);
  });

  it('does not count a provider that is no longer configured as a way to sign in', async () => {
    const { id } = await create(newAccount('line'));
    await link(id, newAccount('old'));
    await expect(accounts().unlink(id, 'line', USABLE)).rejects.toThrow('Provider account is the only way to sign in');
    await accounts().unlink(id, 'old', USABLE);
  });
});

describe('the store', () => {
  it('finds an account by its index', async () => {
    const { collection } = app.storage.model(identityModel);
    const plan = await collection.find({ 'providers.key': 'google:1', deletedAt: null }).explain();
    expect(JSON.stringify(plan.queryPlanner.winningPlan)).toContain('providers.key_1_unique');
  });
});
