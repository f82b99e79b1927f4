import { PASSWORD, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { securityEventModel } from './security-event.model.js';

const app = fixture(() => startTestServer({ trustProxy: true }));

const FACTS = ['event', 'eventId', 'identityId', 'actorId', 'sessionId', 'requestId', 'details'];

describe('the audit trail', () => {
  it('holds no email, password, token or fingerprint, neither in its records nor in its log lines', async () => {
    const admin = await app.signUpAdmin();
    const ann = await app.signUp({ fingerprint: 'the fingerprint of a device' });
    const password = 'a guess that is wrong';
    await app.rest('POST', '/auth/login', { email: ann.email, password }).expect(401);
    await app.rest('POST', '/auth/login', { email: `nobody-${ann.email}`, password }).expect(401);
    await admin.rest('PATCH', `/identities/${ann.id}`, { email: `new-${ann.email}` }).expect(200);
    await app.rest('POST', '/auth/logout', { refreshToken: ann.refreshToken }).expect(204);
    await app.tandem.services.audit.settle();

    const records = await app.storage.model(securityEventModel).collection.find().toArray();
    expect(records.length).toBeGreaterThan(5);
    const text = JSON.stringify(records) + app.logs();
    for (const secret of ['@example.org', PASSWORD, password, 'the fingerprint', ann.accessToken, ann.refreshToken])
      expect(text.includes(secret), secret).toBe(false);
  });

  it('writes one log line per event, with ids but without address and device', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.77', 'user-agent': 'a telling browser', 'x-request-id': 'request-77' };
    const ann = await app.signUp();
    await app.rest('POST', '/auth/login', { email: ann.email, password: 'a wrong guess' }, { headers }).expect(401);
    await app.tandem.services.audit.settle();
    const lines = app.logs().split('\n').filter((line) => line.includes('request-77') && line.includes('"event"')); // prettier-ignore
    expect(lines).toHaveLength(1);
    const { level, time, pid, hostname, msg, ...facts } = JSON.parse(lines[0] as string) as Record<string, unknown>;
    expect(Object.keys(facts).sort()).toEqual(FACTS.toSorted());
    expect(facts).toMatchObject({ event: 'login.failed', identityId: ann.id, requestId: 'request-77' });
    expect(app.logs()).not.toContain('203.0.113.77');
    expect(app.logs()).not.toContain('a telling browser');
    const record = await app.storage.model(securityEventModel).findOne({ requestId: 'request-77' }).lean();
    expect(record).toMatchObject({ _id: facts.eventId, ip: '203.0.113.77', userAgent: 'a telling browser' });
  });
});

it('a store that refuses an event changes no answer, and the failure is logged', async () => {
  await using refusing = await startTestServer();
  const { collection } = refusing.storage.model(securityEventModel);
  await collection.drop();
  // a validator that nothing satisfies
  await refusing.storage
    .model(securityEventModel)
    .db.createCollection('securityEvents', { validator: { never: { $exists: true } } });
  const admin = await refusing.signUpAdmin();
  const ann = await refusing.signUp();
  await refusing.rest('POST', '/auth/login', { email: ann.email, password: 'a wrong guess' }).expect(401);
  await admin.rest('POST', `/identities/${ann.id}/lock`).expect(204);
  await refusing.tandem.services.audit.settle();
  expect(await collection.countDocuments()).toBe(0);
  const failures = refusing.logs().split('\n').filter((line) => line.includes('a security event was not recorded')); // prettier-ignore
  expect(failures.length).toBeGreaterThanOrEqual(6);
  expect(refusing.logs()).not.toContain('@example.org');
});
