import { eachConnected } from '../connection.js';
import { countSteadily, type LoadResult } from '../load.js';
import type { MeasuredProcess } from '../measured-process.js';
import { PASSWORD, signUp, type Person } from '../people.js';
import type { Comparison } from '../rounds.js';
import type { Scenario } from '../scenario.js';

/** The default cost of password hashes. */
const BCRYPT_COST = 12;
/** Concurrent logins. */
const AT_ONCE = 4;
/** Logins counted in one round: at a few per second, counting those within a fixed time would be too coarse. */
const PER_ROUND = 24 * AT_ONCE;
/** Enough for V8 to compile the login's code: the first ones cost twice as much besides the password. */
const WARMED = { warmUpRequests: 400, warmUpFactor: 8 };

/** The cost at which the parts besides the password weigh more. */
const LIGHT_COST = 10;

/**
 * Signs in, compared with only the comparison of the password, at the same concurrency, for two costs of hashes; and the CPU of the
 * engine, compared with a route that finds the account, compares and stores a row.
 */
export const login: Scenario<Comparison[]> = async ({ tandem, bare, engine, start, people }) => {
  const light = await start('tandem-server', { BCRYPT_COST: String(LIGHT_COST) });
  const lightPeople = await signUp(light.url, people.length);

  async function logIn(url: string, known: readonly Person[]): Promise<LoadResult> {
    const logins = countSteadily(PER_ROUND, AT_ONCE);
    await eachConnected(url, Array.from({ length: AT_ONCE }), (connection) =>
      logins.repeat((turn) => {
        const body = { email: known[turn % known.length]?.email, password: PASSWORD };
        return connection.send({ method: 'POST', path: '/auth/login', body }, 200);
      }),
    );
    return logins.result();
  }
  async function againstPasswords(name: string, cost: number, process: MeasuredProcess, known: readonly Person[]) {
    const hash = await bare.ask<string>('hash', { password: PASSWORD, cost });
    const compare = { password: PASSWORD, hash, count: PER_ROUND, atOnce: AT_ONCE };
    const side = { process, run: () => logIn(process.url, known) };
    const bareSide = { process: bare, run: () => bare.ask<LoadResult>('compare', compare) };
    return { ...WARMED, name, of: 'rate', target: 0.95, tandem: side, bare: bareSide } as const;
  }
  return [
    await againstPasswords('login', BCRYPT_COST, tandem, people),
    await againstPasswords(`login, bcrypt at cost ${LIGHT_COST}`, LIGHT_COST, light, lightPeople),
    {
      ...WARMED,
      name: 'login: the engine',
      of: 'cpu',
      target: 1.5,
      tandem: { process: engine, run: () => logIn(light.url, lightPeople) },
      bare: { process: engine, run: () => logIn(bare.url, lightPeople) },
    },
  ];
};
