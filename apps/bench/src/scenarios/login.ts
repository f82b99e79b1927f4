import { eachConnected } from '../connection.js';
import { countSteadily, type LoadResult } from '../load.js';
import { PASSWORD } from '../people.js';
import type { Scenario } from '../scenario.js';

/** The default cost of password hashes. */
const BCRYPT_COST = 12;
/** Concurrent logins. */
const AT_ONCE = 4;
/** Logins counted in one round: at a few per second, counting those within a fixed time would be too coarse. */
const PER_ROUND = 24 * AT_ONCE;
/** Enough for V8 to compile the login's code: the first ones cost twice as much besides the password. */
const WARM_UP_LOGINS = 400;

/** Signs in, compared with only the comparison of the password, at the same concurrency. */
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
