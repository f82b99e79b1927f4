import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Secret } from '@tandem/services';

/** At least 32 bytes each; of several the first makes tokens, all verify them. Whoever knows them can sign in as anybody. */
export interface Secrets {
  authEncSecret: Secret;
  authSignSecret: Secret;
}
export interface Settings {
  port: number;
  /** Of the embedded engine, and of the secrets made here. */
  dataDir: string;
  /** A MongoDB server; undefined for the embedded engine. */
  mongodbUri: string | undefined;
  /** How many proxies are in front: the address of a caller is the one that they say. */
  trustProxy: number;
  secrets: Secrets;
  /** Made at the start unless there is an admin. */
  firstAdmin?: { email: string; password: string } | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Secrets that stay the same over restarts, so that people stay signed in. For development. */
function keptSecrets(dataDir: string): Secrets {
  const file = path.join(dataDir, 'secrets.json');
  if (!existsSync(file)) {
    const make = () => randomBytes(48).toString('base64');
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ authEncSecret: make(), authSignSecret: make() }), { mode: 0o600 });
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Secrets;
}

/** Those of the environment; outside production, what it lacks is made once and kept. */
function readSecrets({ AUTH_ENC_SECRET, AUTH_SIGN_SECRET, NODE_ENV }: Environment, dataDir: string): Secrets {
  const [authEncSecret, authSignSecret] = [AUTH_ENC_SECRET, AUTH_SIGN_SECRET].map((text) => text?.trim().split(/\s*,\s*/));
  if (authEncSecret && authSignSecret) return { authEncSecret, authSignSecret };
  if (NODE_ENV === 'production')
    throw new Error('AUTH_ENC_SECRET and AUTH_SIGN_SECRET: set both, e.g. to the output of openssl rand -base64 48');
  const kept = keptSecrets(dataDir);
  return { authEncSecret: authEncSecret ?? kept.authEncSecret, authSignSecret: authSignSecret ?? kept.authSignSecret };
}

function readFirstAdmin({ BOOTSTRAP_ADMIN_EMAIL: email, BOOTSTRAP_ADMIN_PASSWORD: password }: Environment) {
  if ((email === undefined) !== (password === undefined))
    throw new Error('BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD go together: set both or none');
  return email === undefined || password === undefined ? undefined : { email, password };
}

/** An empty value counts as not set. @throws Error naming a variable that is wrong or missing */
export function readSettings(environment: Environment): Settings {
  const given: Environment = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const { PORT = '3000', DATA_DIR = '.data', MONGODB_URI, TRUST_PROXY = '0' } = given;
  const port = Number(PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`PORT: "${PORT}" is no port`);
  if (!/^\d$/.test(TRUST_PROXY)) throw new Error(`TRUST_PROXY: "${TRUST_PROXY}" is no number of proxies`);
  const trustProxy = Number(TRUST_PROXY);
  return {
    port,
    dataDir: DATA_DIR,
    mongodbUri: MONGODB_URI,
    trustProxy,
    secrets: readSecrets(given, DATA_DIR),
    firstAdmin: readFirstAdmin(given),
  };
}
