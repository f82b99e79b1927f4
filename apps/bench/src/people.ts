import { randomUUID } from 'node:crypto';
import { eachConnected } from './connection.js';

/** Of everybody in a benchmark. */
export const PASSWORD = 'a password of the benchmark';

/** People who sign up at once. */
const AT_ONCE = 8;

/** Somebody with an account, signed in. */
export interface Person {
  id: string;
  email: string;
  accessToken: string;
  refreshToken: string;
}

/** Registers people at the server under test and signs them in. @throws Error when one of the answers is another than expected */
export async function signUp(url: string, count: number): Promise<Person[]> {
  const people: Person[] = [];
  let begun = 0;
  // more at once would wait for each other's hashes for longer than a request may
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
