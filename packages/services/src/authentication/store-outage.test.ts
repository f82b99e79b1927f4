import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedMongo } from '@tandem/embedded-mongo';
import { FACES, PASSWORD, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';

it('while the store is away every call is answered 500 or 503, in good time, and never 401 or 403', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-away-'));
  const engine = await startEmbeddedMongo({ dir });
  const app = await startTestServer({ mongodbUri: `${engine.uri}&serverSelectionTimeoutMS=200&waitQueueTimeoutMS=200` });
  try {
    const [ann, bob, admin] = [await app.signUp(), await app.signUp(), await app.signUpAdmin()];
    // bob's session is one that the server has seen a moment ago, ann's one that it has not
    await bob.rest('GET', `/identities/${bob.id}`).expect(200);
    await engine.stop();
    const start = performance.now();
    const outcomes = await Promise.all(
      FACES.flatMap((face) => [
        app.call(face, 'auth.login', { email: ann.email, password: PASSWORD }),
        app.call(face, 'auth.login', { email: ann.email, password: 'a wrong guess' }),
        app.call(face, 'auth.register', { email: 'new@example.org', password: PASSWORD }),
        app.call(face, 'auth.refreshToken', { refreshToken: ann.refreshToken }),
        app.call(face, 'auth.checkToken', { token: ann.accessToken }),
        app.call(face, 'auth.logout', {}, ann.credentials),
        ann.call(face, 'identities.get', { identityId: ann.id }),
        bob.call(face, 'identities.get', { identityId: bob.id }),
        ann.call(face, 'auth.deleteRefreshTokens', { identityId: ann.id }),
        bob.call(face, 'auth.deleteRefreshTokens', { identityId: bob.id }),
        admin.call(face, 'identities.list'),
        admin.call(face, 'identities.patch', { identityId: ann.id, typeId: 'guest' }),
        admin.call(face, 'identities.lock', { identityId: ann.id }),
        ann.call(face, 'notifications.unreadCount', { identityId: ann.id }),
      ]),
    );
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(/^Failed to \w+ [\w ]+$/) as string });
      expect([500, 503]).toContain((outcome as { status: number }).status);
    }
    expect(performance.now() - start).toBeLessThan(15_000);
    expect(app.logs()).not.toContain(ann.email);

    // what cannot be right is refused without the store
    await app.rest('GET', `/identities/${ann.id}`).expect(422);
    await app.rest('GET', `/identities/${ann.id}`, undefined, { accessToken: 'garbage' }).expect(401);
    await app.rest('POST', '/auth/login', {}).expect(400);
  } finally {
    await app.close();
    await engine.stop();
    await rm(dir, { recursive: true });
  }
});
