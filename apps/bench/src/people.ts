import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { eachConnected } from './connection.js';
import type { Stored } from './rows.js';

/** The password of everybody in a benchmark. */
export const PASSWORD = 'a password of the benchmark';

/** Concurrent sign-ups. */
const AT_ONCE = 8;

/** Someone who is signed in. */
export interface Somebody {
  id: string;
  accessToken: string;
}

/** A signed-in person with an account. */
export interface Person extends Somebody {
  email: string;
  refreshToken: string;
}

/** Signs up an admin. */
export async function signUpAdmin(url: string, db: Db): Promise<Person> {
  const [admin] = (await signUp(url, 1)) as [Person];
  await db.collection<Stored>('identities').updateOne({ _id: admin.id }, { $set: { typeId: 'admin' } });
  return admin;
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
