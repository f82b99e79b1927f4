import { randomUUID } from 'node:crypto';
import { eachConnected } from './connection.js';

/** The password of everybody in a benchmark. */
export const PASSWORD = 'a password of the benchmark';

/** Concurrent sign-ups. */
const AT_ONCE = 8;

/** A signed-in person with an account. */
export interface Person {
  id: string;
  email: string;
  accessToken: string;
  refreshToken: string;
}

/** Registers people at the server under test and signs them in. @throws Error for an unexpected answer */
export async function signUp(url: string, count: number): Promise<Person[]> {
  const people: Person[] = [];
  let begun = 0;
  // with more, a request could exceed its deadline waiting for the hashes of others
  await eachConnected(url, Array.from({ length: Math.min(AT_ONCE, count) }), async (connection) => {
    while (begun++ < count) {
      const email = `${randomUUID()}@example.org`;
      const body = { email, password: PASSWORD };
      await connection.send({ method: 'POST', path: '/auth/register', body }, 201);
      const answer = await connection.send({ method: 'POST', path: '/auth/login', body }, 200);
      people.push({ ...(JSON.parse(answer) as Omit<Person, 'email'>), email });
    }
  });
  return people;
}
