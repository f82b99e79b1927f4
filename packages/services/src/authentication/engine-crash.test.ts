import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  NEW_PASSWORD,
  PASSWORD,
  startTestServer,
  type Person,
  type RestAnswer,
  type RestRequest,
  type TestServer,
} from '@tandem/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

const KILLS = 2;
const AT_ONCE = 6;
/** Answers between two kills. */
const ANSWERS = 20;

let dataDir: string;
let app: TestServer;
/** Another instance over the same engine: it has no copy of a session's state, as `app` may have for a second. */
let other: TestServer;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-engine-'));
  app = await startTestServer({ mongodbUri: undefined, dataDir });
  other = await startTestServer({ mongodbUri: undefined, dataDir });
});
afterAll(async () => {
  await other.close();
  await app.close();
  await rm(dataDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
});

/** What a request was answered; undefined when that was a failure of the server, so that nobody knows whether it was done. */
async function answerOf(request: RestRequest): Promise<RestAnswer | undefined> {
  const answer = await request;
  return answer.status < 500 ? answer : undefined;
}

async function canSignIn(email: string, password = PASSWORD): Promise<boolean> {
  const { status } = await app.rest('POST', '/auth/login', { email, password });
  return status === 200;
}

async function isSignedIn({ id, credentials }: Person): Promise<boolean> {
  const { status } = await other.rest('GET', `/identities/${id}`, undefined, credentials);
  return status === 200;
}

/** Told by a mail if it is done, and not if it is not; done for sure if it was acknowledged. */
function expectDone(isDone: boolean, { email }: Person, answer: RestAnswer | undefined): void {
  expect(answer?.status ?? 204).toBe(204);
  expect([isDone, isDone || !answer]).toEqual([app.mail.count(email) > 0, true]);
}

async function linkTo(target: 'reset-password' | 'change-email', { id: identityId }: Person, email: string): Promise<string> {
  return (await app.tandem.services.onetimeTokens.create({ identityId, target, email })).token;
}

async function expectPassword(person: Person, answer: RestAnswer | undefined): Promise<void> {
  const isNew = await canSignIn(person.email, NEW_PASSWORD);
  expect([await canSignIn(person.email), await isSignedIn(person)]).toEqual([!isNew, !isNew]);
  expectDone(isNew, person, answer);
}

interface Deed {
  do(person: Person): Promise<RestAnswer | undefined>;
  /** When all is over, and all mails are sent. */
  check(person: Person, answer: RestAnswer | undefined): Promise<void>;
}

const DEEDS: Deed[] = [
  {
    do: ({ id, rest }) =>
      answerOf(rest('PATCH', `/auth/${id}/change-password`, { password: PASSWORD, newPassword: NEW_PASSWORD })),
    check: expectPassword,
  },
  {
    async do(person) {
      const token = await linkTo('reset-password', person, person.email);
      return answerOf(app.rest('POST', '/auth/reset-password', { token, password: NEW_PASSWORD }));
    },
    check: expectPassword,
  },
  {
    async do(person) {
      const token = await linkTo('change-email', person, `new-${person.email}`);
      return answerOf(person.rest('POST', '/auth/confirm-new-email', { token }));
    },
    async check(person, answer) {
      const isNew = await canSignIn(`new-${person.email}`);
      expect([await canSignIn(person.email), await isSignedIn(person)]).toEqual([!isNew, true]);
      expectDone(isNew, person, answer);
    },
  },
  {
    do: ({ id, rest }) => answerOf(rest('POST', '/auth/deactivate', { identityId: id })),
    async check(person, answer) {
      const isActive = await canSignIn(person.email);
      expect(await isSignedIn(person)).toBe(isActive);
      expectDone(!isActive, person, answer);
    },
  },
  {
    do: ({ id, rest }) => answerOf(rest('POST', `/auth/${id}/send-verification-email`, {})),
    async check({ email }, answer) {
      expect(answer?.status ?? 204).toBe(204);
      expect([await canSignIn(email), !answer || app.mail.count(email) > 0]).toEqual([true, true]);
    },
  },
];

/** Somebody registered, as far as they know, or did not hear of it. */
async function expectRegistered(email: string, answer: RestAnswer | undefined): Promise<void> {
  const { status } = answer ?? (await app.rest('POST', '/auth/register', { email, password: PASSWORD }));
  expect(answer ? [201] : [201, 422]).toContain(status);
  expect(await canSignIn(email)).toBe(true);
}

it(
  'when the database engine is killed, nothing acknowledged is lost, and nothing is half done',
  { timeout: 120_000 },
  async () => {
    const checks: (() => Promise<void>)[] = [];
    const over = new AbortController();
    const answers = new EventEmitter();

    async function live(turn: number): Promise<void> {
      const email = `${crypto.randomUUID()}@example.org`;
      const registered = await answerOf(app.rest('POST', '/auth/register', { email, password: PASSWORD }));
      const person = registered && (await app.signIn(email).catch(() => undefined));
      if (!person) return void checks.push(() => expectRegistered(email, registered));
      const deed = DEEDS[turn % DEEDS.length] as Deed;
      const answer = await deed.do(person).catch(() => undefined);
      checks.push(() => deed.check(person, answer));
      answers.emit('answer');
    }
    async function keepLiving(at: number): Promise<void> {
      for (let turn = at; !over.signal.aborted; turn++) await live(turn);
    }
    async function waitForAnswers(): Promise<void> {
      for (let count = 0; count < ANSWERS; count++) await once(answers, 'answer');
    }

    const lives = Array.from({ length: AT_ONCE }, (_, at) => keepLiving(at));
    const enginePid = () => Number([...app.logs().matchAll(/"enginePid":(\d+)/g)].at(-1)?.[1]);
    for (let kills = 0; kills < KILLS; kills++) {
      await waitForAnswers();
      const killed = enginePid();
      process.kill(killed, 'SIGKILL');
      // until then all answers may be refusals
      await expect.poll(enginePid, { timeout: 60_000 }).not.toBe(killed);
    }
    await waitForAnswers();
    over.abort();
    await Promise.all(lives);

    // a mail that was being sent is held for a minute
    app.clock.advance(60_000);
    await app.tandem.services.mails.work();
    expect(checks.length).toBeGreaterThan(KILLS * ANSWERS);
    for (const check of checks) await check();
  },
);
