import { randomUUID } from 'node:crypto';
import { PASSWORD, type TestServer } from '@tandem/testing';
import {
  createMemoryTokenStore,
  createTandemClient,
  describeFailure,
  type Failure,
  type TandemClientOptions,
} from '../src/index.js';
import { createRecordingFetch, type BeforeSending, type SentRequest } from './recording-fetch.js';

/** Longer than an access token lives, in milliseconds. */
export const EXPIRY_MS = 16 * 60_000;

/** An unused email and a password. */
export function newAccount() {
  return { email: `${randomUUID()}@example.org`, password: PASSWORD };
}

/** The failure of a call that must fail. */
export function failureOf(call: Promise<unknown>): Promise<Failure | 'no failure'> {
  return call.then(() => 'no failure' as const, describeFailure);
}

export function isRefresh({ procedures }: SentRequest): boolean {
  return procedures.includes('auth.refreshToken');
}

interface ClientOptions extends Partial<TandemClientOptions> {
  before?: BeforeSending;
}

/** A client of a server, with records of all its effects. */
export function createClient(app: TestServer, { before, fetch, ...options }: ClientOptions = {}) {
  const tokens = options.tokens ?? createMemoryTokenStore();
  const recording = createRecordingFetch(before, fetch);
  const signedOut: string[] = [];
  const onSignedOut = () => void signedOut.push('signed out');
  const client = createTandemClient({ url: app.url, onSignedOut, ...options, tokens, fetch: recording.fetch });
  return { client, tokens, signedOut, ...recording };
}

/** A signed-in client whose access token has just expired. */
export async function createExpiredClient(app: TestServer, options: ClientOptions = {}) {
  const made = createClient(app, options);
  const { id } = await made.client.signUp(newAccount());
  app.clock.advance(EXPIRY_MS);
  return { ...made, id, unread: () => made.client.api.notifications.unreadCount.query({ identityId: id }) };
}

/** Holds back its waiters, and requests that call a procedure, until opened. */
export function createBarrier(procedure: string) {
  let open = () => {};
  let arrive = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  function wait(): Promise<void> {
    arrive();
    return opened;
  }
  const before: BeforeSending = ({ procedures }) => (procedures.includes(procedure) ? wait() : undefined);
  return { wait, before, arrived, open };
}
