import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  splitLink,
  type Operation,
  type TRPCClient,
  type TRPCLink,
} from '@trpc/client';
import type { AnyTRPCRouter } from '@trpc/server';
import {
  createAuthCalls,
  type LoginAnswer,
  type MfaInput,
  type PasskeySignInInput,
  type SignInInput,
  type SignUpInput,
  type TokenSignInInput,
} from './auth-calls.js';
import { createBearerSession } from './bearer-session.js';
import { createCookieSession } from './cookie-session.js';
import { MfaRequiredError, isRefusal } from './failure.js';
import { createIdempotencyLink, hasSender, keyHeaders, noteOwner } from './idempotency-link.js';
import { createKeySession } from './key-session.js';
import { createRenewalLink, createSentWith } from './renewal-link.js';
import { createRenewals } from './renewals.js';
import type { AppRouter } from './router-types.js';
import { createMemoryTokenStore, type TokenStore } from './token-store.js';
import { createVersionsLink, hasVersion, versionHeaders } from './versions.js';
import { createTransport, type ClientMode, type Fetch } from './transport.js';

/** Most calls that the server accepts in one request. */
const MAX_BATCH_ITEMS = 20;
/** Longest URL of a request, in characters: commonly accepted by proxies. */
const MAX_URL_LENGTH = 8000;

export interface TandemClientOptions {
  /** The server's URL: `https://api.example.org`, without `/trpc`. */
  url: string;
  /** The server's `AUTH_MODE`. Default `bearer`. */
  mode?: ClientMode;
  /** Identifies this device: 1 to 512 printable ASCII characters. Given at login, and sent with each later request. */
  fingerprint?: string;
  /**
   * An API key, `tdm_…`, for programs: all calls and streams act as its identity, in each mode of the server, and nobody signs
   * in. Never give one to a browser.
   */
  apiKey?: string;
  /** Stores the tokens of bearer mode. Default: in memory. */
  tokens?: TokenStore;
  /** Default: the platform's. */
  fetch?: Fetch;
  /**
   * Called once when the server has ended the session (expiry, lock, password change), not by `signOut`. Must not
   * throw.
   */
  onSignedOut?: () => void;
}

export interface TandemClient<Router extends AnyTRPCRouter = AppRouter> {
  /**
   * The procedures: `api.notifications.list.query({ identityId })`. Calls of one tick share a request. A call refused
   * because of an old access token is repeated once, after a refresh that all calls share. Calls that create are sent
   * alone with a key, and once more when their answer is lost; `{ context: { idempotencyKey } }` gives any mutation
   * one. `{ context: { ifMatch: versionOf(record) } }` changes a record only in that version. Fails with a TRPCClientError, which `describeFailure` reads.
   */
  readonly api: TRPCClient<Router>;
  /**
   * Starts a session; an earlier one of the client is forgotten here, not ended. Fails with 401 `wrong credentials
   * provided` or `This account is locked`, with a MfaRequiredError when a second step has to follow, and with an Error
   * when the server is in the other mode.
   */
  signIn(input: SignInInput): Promise<{ id: string }>;
  /** The same with a one-time token. Fails with 401 when the token is not valid, and as `signIn`. */
  signInByToken(input: TokenSignInInput): Promise<{ id: string }>;
  /** The same with the answer of a passkey, which `@tandem/client/passkeys` asks for. Fails with 401 `Passkey could not be verified`. */
  signInByPasskey(input: PasskeySignInInput): Promise<{ id: string }>;
  /**
   * The second step of a sign-in that failed with a MfaRequiredError. Fails with 400 `Invalid MFA code provided.`, and
   * with 401 when the challenge has expired, or for a passkey's answer.
   */
  verifyMfa(input: MfaInput): Promise<{ id: string }>;
  /**
   * Sends another code by mail, to who has no factor; older ones become invalid. Returns the challenge's token, with a new expiry. Fails with 429
   * within half a minute of the last code, and after the fifth.
   */
  resendMfa(token: string): Promise<string>;
  /**
   * Creates an account, with an address or an invitation's token, and signs in. Fails with 422 `unable to register
   * "<email>"`, 401 `token could not be verified`, 400 `Validation Error`, and as `signIn`; the account stays when only
   * that failed.
   */
  signUp(input: SignUpInput): Promise<{ id: string }>;
  /**
   * Call it in cookie mode when this identity has signed in in another tab: `onSignedOut` then tells the end of that
   * session, too. What was sent in the name of another is not sent again, and its streams end.
   */
  followSignIn(identityId: string): void;
  /**
   * Ends the session; does nothing without one. In bearer mode the tokens are forgotten at once, whatever the outcome.
   * Fails when the server cannot be reached, so that the session may live on there.
   */
  signOut(): Promise<void>;
}

/**
 * A client of a Tandem server, for browsers and Node.
 * @typeParam Router a host's own router, where it has added procedures
 * @throws TypeError when the fingerprint cannot be sent in a header
 */
export function createTandemClient<Router extends AnyTRPCRouter = AppRouter>({
  url,
  mode = 'bearer',
  fingerprint,
  apiKey,
  tokens = createMemoryTokenStore(),
  fetch,
  onSignedOut = () => {},
}: TandemClientOptions): TandemClient<Router> {
  const transport = createTransport({ url, mode: apiKey === undefined ? mode : 'bearer', fingerprint, fetch });
  const calls = createAuthCalls(transport);
  const signedIn = () => (mode === 'cookie' ? createCookieSession(calls) : createBearerSession(tokens, calls));
  const session = apiKey === undefined ? signedIn() : createKeySession(apiKey);
  const renewals = createRenewals(session, onSignedOut);
  const sentWith = createSentWith();

  const way = { url: transport.url, fetch: transport.fetch };
  async function headersOf(operations: readonly Operation[]): Promise<Record<string, string>> {
    const sent = await renewals.hold();
    for (const operation of operations) noteOwner(operation, sent?.owner);
    sentWith.note(operations, sent);
    return { ...transport.fingerprintHeaders, ...sent?.headers };
  }

  const links: TRPCLink<AppRouter>[] = [
    createIdempotencyLink(),
    createVersionsLink(),
    createRenewalLink(renewals, { sentWith, curable: session.curable }),
    splitLink({
      condition: (op) => hasSender(op) || hasVersion(op),
      true: httpLink({
        ...way,
        headers: async ({ op }) => ({ ...(await headersOf([op])), ...keyHeaders(op), ...versionHeaders(op) }),
      }),
      false: httpBatchLink({
        ...way,
        maxItems: MAX_BATCH_ITEMS,
        maxURLLength: MAX_URL_LENGTH,
        headers: ({ opList }) => headersOf(opList),
      }),
    }),
  ];

  async function begin(answer: LoginAnswer): Promise<{ id: string }> {
    if ('token' in answer) throw new MfaRequiredError(answer.token, answer.factors);
    await session.start(answer);
    return { id: answer.id };
  }

  const signIn = async (input: SignInInput) => begin(await calls.login(input));

  return {
    api: createTRPCClient<Router>({ links }),

    signIn,
    signInByToken: async (input) => begin(await calls.loginByToken(input)),
    signInByPasskey: async (input) => begin(await calls.loginByPasskey(input)),
    verifyMfa: async (input) => begin(await calls.verifyMfa(input)),
    resendMfa: async (token) => (await calls.resendMfa(token)).token,

    async signUp(input) {
      const { email } = await calls.register(input);
      return signIn({ email, password: input.password });
    },

    followSignIn: (identityId) => session.follow?.(identityId),

    async signOut() {
      renewals.leave();
      try {
        await session.end();
      } catch (error) {
        // a session that the server does not know has ended
        if (!isRefusal(error)) throw error;
      }
    },
  };
}
