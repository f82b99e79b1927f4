import { eachConnected } from '../connection.js';
import { countSteadily, type LoadResult } from '../load.js';
import { PASSWORD } from '../people.js';
import type { Scenario } from '../scenario.js';

/** The cost of password hashes by default. */
const BCRYPT_COST = 12;
/** Logins at once. */
const AT_ONCE = 4;
/** Logins that are counted in one round: at a few a second, counting those within a time would round too much. */
const PER_ROUND = 24 * AT_ONCE;
/** As many as it takes until V8 has compiled what a login runs through: of the first ones each costs twice as much beside the password. */
const WARM_UP_LOGINS = 400;

/** Signs in, against nothing but the comparison of the password, as many at once. */
export const login: Scenario = async ({ tandem, bare, people }) => {
  const hash = await bare.ask<string>('hash', { password: PASSWORD, cost: BCRYPT_COST });

  async function logIn(): Promise<LoadResult> {
    const logins = countSteadily(PER_ROUND, AT_ONCE);
    await eachConnected(tandem.url, Array.from({ length: AT_ONCE }), (connection) =>
      logins.repeat((turn) => {
        const body = { email: people[turn % people.length]?.email, password: PASSWORD };
        return connection.send({ method: 'POST', path: '/auth/login', body }, 200);
      }),
    );
    return logins.result();
  }
  const compare = { password: PASSWORD, hash, count: PER_ROUND, atOnce: AT_ONCE };
  return {
    name: 'login',
    of: 'rate',
    target: 0.95,
    warmUpRequests: WARM_UP_LOGINS,
    warmUpFactor: 8,
    tandem: { process: tandem, run: logIn },
    bare: { process: bare, run: () => bare.ask<LoadResult>('compare', compare) },
  };
};
