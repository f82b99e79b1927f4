import { draw } from './drawings/canvas.js';
import { portrait } from './drawings/portrait.js';
import { PEOPLE, type SeedPerson, type Who } from './data/people.js';
import { mailOf } from './data/organizations.js';
import { MINUTE_MS, PASSWORD_LANES, ago, forEach, picture, uploaded, type Seeding } from './seeding.js';

/** Ids of accounts and of their profiles. */
export interface Person {
  id: string;
  profileId: string;
}
export type People = Readonly<Record<Who, Person>>;

/** Days ago that those came who were there from the beginning. */
const FIRST_DAYS = 365;
const NO_DEVICE = { ip: '', userAgent: '' };

/** Makes everybody an account with a verified address, and a profile with a picture. */
export async function fillPeople(seeding: Seeding): Promise<People> {
  const { services, act, password } = seeding;

  async function join([who, { name, city, face, joined = FIRST_DAYS }]: [string, SeedPerson]): Promise<[string, Person]> {
    const email = mailOf(who);
    const soon = (minutes: number) => ago(seeding, joined, minutes);
    const id = await seeding.clock.at(soon(0), async () => {
      if (who === 'admin') return services.authentication.createAdmin({ email, password });
      return (await services.authentication.register({ email, password }, NO_DEVICE)).id;
    });
    if (who !== 'admin') await act(id, soon(3), () => services.identities.verifyEmail(id, email));
    const profile = await act(id, soon(6), () => services.profiles.create({ identityId: id, name, metadata: { city } }, id));
    const avatar = await uploaded(seeding, id, picture(draw(portrait(face))), (request) =>
      services.profiles.avatarUploadUrl(profile.id, request, id),
    );
    await act(id, soon(9), () => services.profiles.patch(profile.id, { avatar }, id));
    return [who, { id, profileId: profile.id }];
  }

  return Object.fromEntries(await forEach(Object.entries<SeedPerson>(PEOPLE), join, PASSWORD_LANES)) as Record<Who, Person>;
}

/** Devices that people sign in with; their addresses are those for examples. */
const DEVICES = {
  phone: {
    ip: '203.0.113.24',
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  },
  desk: { ip: '198.51.100.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  laptop: {
    ip: '192.0.2.61',
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  },
} as const;

/** Who signed in how many days ago; some mistyped their password first. */
const SIGN_INS: readonly (readonly [who: Who, device: keyof typeof DEVICES, days: number, isWrong?: boolean])[] = [
  ['martha', 'phone', 2.2, true],
  ['martha', 'phone', 2.19],
  ['helena', 'laptop', 4],
  ['helena', 'phone', 0.9],
  ['iris', 'laptop', 1.4, true],
  ['iris', 'laptop', 1.39],
  ['admin', 'desk', 1],
];

/** Signs people in, so that they have sessions and security events. */
export async function fillSessions(seeding: Seeding): Promise<void> {
  const { services, clock, password } = seeding;
  const names = [...new Set(SIGN_INS.map(([who]) => who))];
  await forEach(
    names,
    async (name) => {
      for (const [who, device, days, isWrong = false] of SIGN_INS) {
        if (who !== name) continue;
        const given = { email: mailOf(who), password: isWrong ? `not ${password}` : password };
        const signingIn = clock.at(ago(seeding, days), () =>
          services.authentication.login(given, { ...DEVICES[device], fingerprintHash: undefined }),
        );
        await (isWrong ? signingIn.catch(() => {}) : signingIn);
      }
    },
    PASSWORD_LANES,
  );
}

/** A sign-in of a moment ago, as important changes need one; undefined where a second step is due. */
export async function signedIn(seeding: Seeding, who: Who, days: number) {
  const { services, clock, password } = seeding;
  return clock.at(new Date(ago(seeding, days).getTime() - MINUTE_MS), async () => {
    const device = { ...DEVICES.desk, fingerprintHash: undefined };
    const answer = await services.authentication.login({ email: mailOf(who), password }, device);
    if (!('accessToken' in answer)) return undefined;
    const { identity } = await services.sessions.verifyAccess(answer.accessToken);
    return { identity, facts: { ...DEVICES.desk, actorId: identity.id, sessionId: identity.sessionId } };
  });
}
