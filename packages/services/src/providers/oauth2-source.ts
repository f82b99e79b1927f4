import * as openid from 'openid-client';
import { boundedFetch } from './bounded-fetch.js';
import type { OAuth2Definition } from './provider-settings.js';
import type { ProviderSource } from './provider-source.js';
import { isLoopback } from './trusted-address.js';

const GITHUB_HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

/** Asks the provider with an access token; answers unchecked JSON. */
type Ask = (address: string) => Promise<{ status: number; answer: unknown }>;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const recordOf = (value: unknown) => (isRecord(value) ? value : {});

/** What X says of an account: an email only if it is confirmed. */
async function askX(ask: Ask, { account }: { account: string }) {
  const { status, answer } = await ask(account);
  if (status !== 200) throw new Error('the provider did not describe the account');
  const { id, confirmed_email: email } = recordOf(recordOf(answer).data);
  return { subject: id, email, isEmailVerified: email !== undefined };
}

/**
 * What GitHub says of an account. Its numeric id is permanent; its name may become somebody else's. The public address of
 * the profile is any of the person's, so the primary one counts.
 */
async function askGitHub(ask: Ask, { account, emails }: { account: string; emails: string }, withEmail: boolean) {
  const [described, listed] = await Promise.all([ask(account), withEmail ? ask(emails) : undefined]);
  if (described.status !== 200) throw new Error('the provider did not describe the account');
  const { id } = recordOf(described.answer);
  const subject = Number.isSafeInteger(id) ? String(id) : undefined;
  // the person, or the app's settings, have not allowed to read them
  const isHidden = !listed || [403, 404].includes(listed.status);
  if (isHidden) return { subject, email: undefined, isEmailVerified: false };
  if (listed.status !== 200 || !Array.isArray(listed.answer)) throw new Error('the provider did not list the addresses');
  const { email, verified } = recordOf(listed.answer.find((one) => recordOf(one).primary === true));
  return { subject, email, isEmailVerified: verified === true };
}

/** A provider with OAuth 2 only and fixed endpoints: X, or GitHub. The account is read with the access token. */
export function createOAuth2Source({ clientId, clientSecret, endpoints }: OAuth2Definition, timeout: number): ProviderSource {
  const { emails } = endpoints;
  const server = {
    // GitHub's; X documents none
    issuer: endpoints.authorization.replace(/\/authorize$/, ''),
    authorization_endpoint: endpoints.authorization,
    token_endpoint: endpoints.token,
  };
  const secret = (emails === undefined ? openid.ClientSecretBasic : openid.ClientSecretPost)(clientSecret);
  const configuration = new openid.Configuration(server, clientId, {}, secret);
  configuration.timeout = timeout;
  configuration[openid.customFetch] = boundedFetch;
  // the endpoints are validated: those without https are on loopback
  if (Object.values(endpoints).some((address: string) => isLoopback(new URL(address))))
    openid.allowInsecureRequests(configuration);

  return {
    configuration: () => Promise.resolve(configuration),
    usesNonce: false,
    knowsIssuer: emails !== undefined,
    returnsByForm: false,
    readAccount(config, { access_token: token }, withEmail) {
      const ask: Ask = async (address) => {
        const headers = emails === undefined ? undefined : new Headers(GITHUB_HEADERS);
        const response = await openid.fetchProtectedResource(config, token, new URL(address), 'GET', null, headers);
        return { status: response.status, answer: response.ok ? await response.json() : await response.body?.cancel() };
      };
      return emails === undefined ? askX(ask, endpoints) : askGitHub(ask, { ...endpoints, emails }, withEmail);
    },
  };
}
