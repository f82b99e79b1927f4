import {
  FACES,
  NEW_PASSWORD,
  PASSWORD,
  UNUSABLE,
  UNVERIFIED,
  startTestServer,
  type Face,
  type Outcome,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { expect, describe, it } from 'vitest';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Given {
  token: string;
  code?: string | undefined;
}
/** How a token is got, how long it lives, how it is used, and what is answered when it is too late. */
interface Kind {
  lifetime: number;
  get(app: TestServer, ann: Person, face: Face): Promise<Given>;
  use(app: TestServer, ann: Person, face: Face, given: Given): Promise<Outcome>;
  late?: object;
  server?: { mfaEnabled: true };
}
const mailed = async (app: TestServer, to: string): Promise<Given> => ({
  token: (await app.mail.next(to, ({ token }) => token !== undefined)).token ?? '',
});

const KINDS: Record<string, Kind> = {
  'an access token': {
    lifetime: 15 * MINUTE,
    get: async (_, ann) => ({ token: ann.accessToken }),
    use: (app, ann, face, { token }) => app.call(face, 'identities.get', { identityId: ann.id }, { accessToken: token }),
  },
  'a refresh token': {
    lifetime: 14 * 24 * HOUR,
    get: async (_, ann) => ({ token: ann.refreshToken }),
    use: (app, _, face, { token }) => app.call(face, 'auth.refreshToken', { refreshToken: token }),
    late: UNUSABLE,
  },
  'a login token': {
    lifetime: 48 * HOUR,
    async get(app, ann, face) {
      const { credentials } = await app.signUpAdmin();
      const made = await app.call(face, 'auth.ottGenerate', { identityId: ann.id }, credentials);
      return { token: (made as { value: { onetimeToken: string } }).value.onetimeToken };
    },
    use: (app, _, face, { token }) => app.call(face, 'auth.ottLogin', { token }),
  },
  'the link that verifies an email': {
    lifetime: 48 * HOUR,
    async get(app, ann, face) {
      await ann.call(face, 'auth.sendVerificationEmail', { identityId: ann.id });
      return mailed(app, ann.email);
    },
    use: (app, _, face, { token }) => app.call(face, 'auth.confirmEmail', { token }),
  },
  'the link that changes an email': {
    lifetime: 24 * HOUR,
    async get(app, ann, face) {
      const email = `new-${ann.email}`;
      await ann.call(face, 'auth.changeEmail', { identityId: ann.id, email, password: PASSWORD });
      return mailed(app, email);
    },
    use: (app, _, face, { token }) => app.call(face, 'auth.confirmNewEmail', { token }),
  },
  'the link that resets a password': {
    lifetime: 30 * MINUTE,
    async get(app, ann, face) {
      await app.call(face, 'auth.sendResetPasswordLinkEmail', { email: ann.email });
      return mailed(app, ann.email);
    },
    use: (app, _, face, { token }) => app.call(face, 'auth.resetPassword', { token, password: NEW_PASSWORD }),
  },
  'a code, and its challenge': {
    lifetime: 5 * MINUTE,
    server: { mfaEnabled: true },
    async get(app, ann, face) {
      const first = await app.call(face, 'auth.login', { email: ann.email, password: PASSWORD });
      const { token } = (first as { value: { token: string } }).value;
      return { token, code: (await app.mail.next(ann.email)).code };
    },
    use: (app, _, face, given) => app.call(face, 'auth.mfaVerify', { ...given }),
  },
};

describe.each(FACES)('over %s', (face) => {
  it.each(Object.keys(KINDS))('%s counts until shortly before its end, and not from then on', async (name) => {
    const { lifetime, server, get, use, late = UNVERIFIED } = KINDS[name] as Kind;
    // accounts are made where no second step is asked for
    await using plain = await startTestServer();
    await using app = await startTestServer({ ...server, clock: plain.clock });
    const [ann, bob] = [await plain.signUp(), await plain.signUp()];
    const [early, tooLate] = [await get(app, ann, face), await get(app, bob, face)];
    // shortly: what came before has taken its time, more of it on a busy machine
    app.clock.advance(lifetime * 0.9);
    expect(await use(app, ann, face, early)).toMatchObject({ ok: true });
    app.clock.advance(lifetime * 0.1);
    expect(await use(app, bob, face, tooLate)).toEqual(late);
  });
});
