import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { send } from './load.js';

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
  const agent = new http.Agent({ keepAlive: true });

  async function post(path: string, body: object, expected: number): Promise<string> {
    const { status, text } = await send(agent, url, { method: 'POST', path, body });
    if (status !== expected) throw new Error(`POST ${path}: ${status} ${text}`);
    return text;
  }
  async function signUpOne(): Promise<Person> {
    const email = `${randomUUID()}@example.org`;
    await post('/auth/register', { email, password: PASSWORD }, 201);
    const answer = await post('/auth/login', { email, password: PASSWORD }, 200);
    return { ...(JSON.parse(answer) as Omit<Person, 'email'>), email };
  }
  try {
    const people: Person[] = [];
    // more at once would wait for each other's hashes for longer than a request may
    while (people.length < count)
      people.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - people.length) }, signUpOne))));
    return people;
  } finally {
    agent.destroy();
  }
}
