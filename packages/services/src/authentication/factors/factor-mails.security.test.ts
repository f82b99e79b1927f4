import { NEW_PASSWORD, NO_ID, PASSWORD, TOO_MANY, createTotpApp, fixture, startTestServer, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';

const app = fixture(startTestServer);

async function addTotp(person: Person, name: string) {
  const added = person.rest('POST', `/auth/${person.id}/factors/totp`, { name });
  return added.expect<{ id: string; secret: string }>(201);
}
async function addConfirmed(person: Person, name: string): Promise<string> {
  const { id, secret } = await addTotp(person, name);
  const code = createTotpApp(secret, app.clock)();
  await person.rest('POST', `/auth/${person.id}/factors/${id}/confirm`, { code }).expect(204);
  return id;
}
const remove = (person: Person, factorId: string) => person.rest('DELETE', `/auth/${person.id}/factors/${factorId}`).expect(204);

it('a factor that never counted is removed without a mail, and no mail has web addresses from the name of another', async () => {
  const ann = await app.signUp();
  const name = 'Bank, see https://evil.example or evil.com';
  await remove(ann, (await addTotp(ann, name)).id);
  await addTotp(ann, name);
  const admin = await app.signUpAdmin();
  await admin.rest('DELETE', `/auth/${ann.id}/factors`).expect(204);
  async function expectMail(subject: string, shown: string): Promise<void> {
    const mail = await app.mail.next(ann.email);
    expect([mail.subject, mail.text.includes(shown), mail.text.includes('evil')]).toEqual([subject, true, false]);
  }
  for (const [given, shown] of [
    [name, '"Bank, see or"'],
    ['https://evil.example', '"Authenticator app"'],
  ] as const) {
    const factorId = await addConfirmed(ann, given);
    await expectMail('A second factor was added to your account', shown);
    await remove(ann, factorId);
    await expectMail('A second factor was removed from your account', shown);
  }
});

it('who makes recovery codes again and again is stopped, as each is a mail', async () => {
  await using limited = await startTestServer({
    mongodbUri: app.mongodbUri,
    clock: app.clock,
    rateLimits: { factors: { perAccount: [2, 3600] } },
  });
  const ann = await app.signUp();
  await addConfirmed(ann, 'Phone');
  const renew = (face: 'rest' | 'trpc') => limited.call(face, 'auth.renewRecoveryCodes', { identityId: ann.id }, ann.credentials);
  for (const face of ['rest', 'trpc'] as const) expect(await renew(face)).toMatchObject({ ok: true });
  for (const face of ['rest', 'trpc'] as const) expect(await renew(face)).toEqual(TOO_MANY);
});

it('who adds factors again and again, from whatever networks, is stopped too, but keeps nobody from removing one', async () => {
  await using limited = await startTestServer({
    mongodbUri: app.mongodbUri,
    clock: app.clock,
    trustProxy: 1,
    rateLimits: { factors: { perAccount: [2, 3600] } },
  });
  const ann = await app.signUp();
  const from = (ip: string) => ({ ...ann.credentials, headers: { 'x-forwarded-for': ip } });
  const { id, secret } = await addTotp(ann, 'Phone');
  const confirm = (code: string, ip: string) =>
    limited.call('rest', 'auth.confirmTotp', { identityId: ann.id, factorId: id, code }, from(ip));
  expect(await confirm(createTotpApp(secret, app.clock)(), '10.0.0.1')).toMatchObject({ ok: true });
  expect(await confirm('000000', '10.1.0.1')).toMatchObject({ status: 404 });
  expect(await confirm('000000', '10.2.0.1')).toEqual(TOO_MANY);
  const remove = (factorId: string, ip: string) =>
    limited.call('trpc', 'auth.deleteFactor', { identityId: ann.id, factorId }, from(ip));
  for (const refused of [{ status: 404 }, { status: 404 }, TOO_MANY])
    expect(await remove(NO_ID, '10.3.0.1')).toMatchObject(refused);
  expect(await remove(id, '10.4.0.1')).toMatchObject({ ok: true });
});

it('factors and the mails about them change no version of the identity, and a new password is one change', async () => {
  const ann = await app.signUp();
  const read = async () => {
    const { headers, body } = await ann.rest('GET', `/identities/${ann.id}`);
    return [headers.get('etag'), body];
  };
  const changes = async (since: string | undefined) => {
    await app.storage.events.relay();
    const { events } = await app.storage.events.read({ since, limit: 200 });
    return events.flatMap(({ type, subject }) => (subject.id === ann.id ? type : []));
  };
  const before = await read();
  await app.storage.events.relay();
  const since = (await app.storage.events.last()) ?? undefined;
  app.clock.advance(1000);
  const factorId = await addConfirmed(ann, 'Phone');
  await ann.rest('POST', `/auth/${ann.id}/factors/recovery-codes`).expect(201);
  await remove(ann, factorId);
  for (let mails = 0; mails < 3; mails += 1) await app.mail.next(ann.email);
  expect(await read()).toEqual(before);
  expect(await changes(since)).toEqual([]);
  const passwords = { password: PASSWORD, newPassword: NEW_PASSWORD };
  await ann.rest('PATCH', `/auth/${ann.id}/change-password`, passwords).expect(204);
  await app.mail.next(ann.email, ({ subject }) => subject === 'Your password has changed');
  expect(await changes(since)).toEqual(['identity.updated']);
});
