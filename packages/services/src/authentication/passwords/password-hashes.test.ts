import { createHash } from 'node:crypto';
import { PASSWORD, fixture, startTestServer } from '@tandem/testing';
import bcrypt from 'bcrypt';
import { describe, expect, it, vi } from 'vitest';
import { bcryptThreads } from './bcrypt-threads.js';
import { identityModel } from '../../identities/identity.model.js';

const app = fixture(() => startTestServer({ bcryptCost: 6 }));

/** Somebody whose hash comes from elsewhere. */
async function imported(passwordHash: string): Promise<{ id: string; email: string }> {
  const email = `${crypto.randomUUID()}@example.org`;
  return app.tandem.services.identities.create({ email, passwordHash, typeId: 'regular' });
}
const login = (email: string, password = PASSWORD, on = app) => on.rest('POST', '/auth/login', { email, password });
const hashOf = async (id: string) =>
  (await app.storage.model(identityModel).findById(id, { passwordHash: 1 }).lean())?.passwordHash;

describe('a password hash', () => {
  it('of a lower cost is replaced at the next login, and the old session goes on', async () => {
    const { id, email } = await imported(await bcrypt.hash(PASSWORD, 4));
    await login(email, 'wrong password').expect(401, 'wrong credentials provided');
    expect(await hashOf(id)).toMatch(/^\$2b\$04\$/);
    const { accessToken } = await login(email).expect<{ accessToken: string }>(200);
    expect(await hashOf(id)).toMatch(/^\$2b\$06\$/);
    await app.rest('GET', `/identities/${id}`, undefined, { accessToken }).expect(200);
    await login(email).expect(200);
  });

  it('of this cost or a higher one stays', async () => {
    for (const cost of [6, 7]) {
      const hash = await bcrypt.hash(PASSWORD, cost);
      const { id, email } = await imported(hash);
      await login(email).expect(200);
      expect(await hashOf(id)).toBe(hash);
    }
  });

  it('of another system’s bcrypt works, whatever its variant', async () => {
    const hash = await bcrypt.hash(PASSWORD, 6);
    for (const variant of ['$2a$', '$2y$']) {
      const { email } = await imported(hash.replace('$2b$', variant));
      await login(email).expect(200);
      await login(email, 'wrong password').expect(401, 'wrong credentials provided');
    }
  });

  it('of another kind works only if a host compares it; then it is replaced by a bcrypt hash', async () => {
    const hash = `sha256:${createHash('sha256').update(PASSWORD).digest('hex')}`;
    const { id, email } = await imported(hash);
    await login(email).expect(401, 'wrong credentials provided');
    const verifyImportedPassword = async (password: string, stored: string) =>
      stored === `sha256:${createHash('sha256').update(password).digest('hex')}`;
    await using host = await startTestServer({ bcryptCost: 6, code: { verifyImportedPassword } });
    await login(email, 'wrong password', host).expect(401, 'wrong credentials provided');
    await login(email, PASSWORD, host).expect(200);
    expect(await hashOf(id)).toMatch(/^\$2b\$06\$/);
    await login(email).expect(200);
  });

  it('of another kind is kept, and still works, for a password too long for bcrypt', async () => {
    const verifyImportedPassword = async (password: string, stored: string) => stored === `length:${password.length}`;
    await using host = await startTestServer({ bcryptCost: 6, code: { verifyImportedPassword } });
    for (const password of ['long '.repeat(20), 'with a null \0 inside']) {
      const { id, email } = await imported(`length:${password.length}`);
      for (let time = 0; time < 2; time++) await login(email, password, host).expect(200);
      expect(await hashOf(id)).toBe(`length:${password.length}`);
    }
  });

  it('of another kind is compared beside what is computed for any account, so that no time is added', async () => {
    let isComputing = (): void => {};
    const computing = new Promise<void>((resolve) => (isComputing = resolve));
    const verifyImportedPassword = () => computing.then(() => false);
    await using host = await startTestServer({ bcryptCost: 6, code: { verifyImportedPassword } });
    const { email } = await imported('of another kind');
    const { compare: really } = bcryptThreads;
    const compare = vi.spyOn(bcryptThreads, 'compare').mockImplementation((...given) => {
      isComputing();
      return really(...given);
    });
    await login(email, 'wrong password', host).expect(401, 'wrong credentials provided');
    compare.mockRestore();
  });

  it('costs a wrong password the same work in one piece, whatever the hash, and without one', async () => {
    const hashes = [undefined, 'of another kind', ...(await Promise.all([4, 5, 6].map((cost) => bcrypt.hash(PASSWORD, cost))))];
    const compare = vi.spyOn(bcryptThreads, 'compare');
    for (const passwordHash of hashes) {
      const email = `${crypto.randomUUID()}@example.org`;
      await app.tandem.services.identities.create({
        email,
        typeId: 'regular',
        ...(passwordHash !== undefined && { passwordHash }),
      });
      compare.mockClear();
      await login(email, 'wrong password').expect(401, 'wrong credentials provided');
      const work = compare.mock.calls.map(([, all]) => all.reduce((sum, hash) => sum + 2 ** bcrypt.getRounds(hash), 0));
      expect(work, passwordHash).toEqual([2 ** 6]);
    }
    compare.mockRestore();
  });
});
