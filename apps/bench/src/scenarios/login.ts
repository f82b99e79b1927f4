import http from 'node:http';
import { repeatAtOnce, send, type LoadResult } from '../load.js';
import { PASSWORD } from '../people.js';
import type { Scenario } from '../scenario.js';

/** The cost of password hashes by default. */
const BCRYPT_COST = 12;
/** Logins at once. */
const AT_ONCE = 4;
/**
 * Logins of one round: at a few a second, counting those within a time would round too much. A round begins and ends with a core that has no
 * password to work on, some 1 % of the time of 48 logins: in a round twice as long that weighs half as much.
 */
const PER_ROUND = 24 * AT_ONCE;
/** As many as it takes until V8 has compiled what a login runs through: of the first ones each costs twice as much beside the password. */
const WARM_UP_LOGINS = 400;

async function timed(run: () => Promise<void>): Promise<LoadResult> {
  const start = performance.now();
  await run();
  return { requests: PER_ROUND, seconds: (performance.now() - start) / 1000 };
}

/** Signs in, against nothing but the comparison of the password, as many at once. */
export const login: Scenario = async ({ tandem, bare, people }) => {
  const hash = await bare.ask<string>('hash', { password: PASSWORD, cost: BCRYPT_COST });

  async function logIn(): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
    await repeatAtOnce(PER_ROUND, AT_ONCE, async (turn) => {
      const body = { email: people[turn % people.length]?.email, password: PASSWORD };
      const { status, text } = await send(agent, tandem.url, { method: 'POST', path: '/auth/login', body });
      if (status !== 200) throw new Error(`POST /auth/login: ${status} ${text}`);
    });
    agent.destroy();
  }
  const compare = { password: PASSWORD, hash, count: PER_ROUND, atOnce: AT_ONCE };
  return {
    name: 'login',
    of: 'rate',
    target: 0.95,
    warmUpRequests: WARM_UP_LOGINS,
    warmUpFactor: 8,
    tandem: { process: tandem, run: () => timed(logIn) },
    bare: { process: bare, run: () => timed(() => bare.ask('compare', compare)) },
  };
};
