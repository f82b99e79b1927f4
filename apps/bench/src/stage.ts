import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedMongo } from '@tandem/embedded-mongo';
import { startRedis, type RedisServer } from '@tandem/testing/redis-server';
import { MongoClient } from 'mongodb';
import { cpuTimeOf, startMeasured, type MeasuredProcess } from './measured-process.js';
import { startServer, type StartedServer } from './started-server.js';
import { signUp } from './people.js';
import type { Stage } from './scenario.js';

/** The servers as they start in production. */
const SERVERS = { tandem: '../../server/bin/tandem.cjs', bare: './bare-server.js' };

/** Connections of every load, each of another person. */
const CONNECTIONS = 8;

/** Settings of the server under test: those of production, on a free port, with mails in a temporary folder. */
function environment(mongodbUri: string, dataDir: string): NodeJS.ProcessEnv {
  const secret = () => randomBytes(48).toString('base64');
  return {
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    PORT: '0',
    DATA_DIR: dataDir,
    MAIL_URL: 'outbox:',
    MFA_ENABLED: 'false',
    // whoever signs in does so once
    ACCESS_TOKEN_EXPIRE_TIME: '5h',
    // every load comes from one address
    RATE_LIMITS: 'off',
    // whoever asks is erased at once, with all texts
    ERASURE_DELAY: '0s',
    ERASED_MESSAGES: 'blank',
    MONGODB_URI: mongodbUri,
    AUTH_ENC_SECRET: secret(),
    AUTH_SIGN_SECRET: secret(),
  };
}

interface StageOptions extends Pick<Stage, 'isQuick'> {
  /** Whether people sign up for the loads. */
  hasPeople: boolean;
}

/**
 * Starts the two servers and one engine for both, each as a process, on a temporary folder; passes them to `play`, and
 * always stops them, also on a signal.
 */
export async function withStage(options: StageOptions, play: (stage: Stage) => Promise<void>): Promise<void> {
  const undo: (() => Promise<unknown>)[] = [];
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
  });
  try {
    await Promise.race([interrupted, setUp(undo, options).then(play)]);
  } finally {
    for (const step of undo.toReversed()) await step();
  }
}

/** @param undo collects a cleanup step for everything that is started, in order */
async function setUp(undo: (() => Promise<unknown>)[], { isQuick, hasPeople }: StageOptions): Promise<Stage> {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-bench-'));
  undo.push(() => rm(dir, { recursive: true, force: true }));
  let enginePid: number | undefined;
  const engine = await startEmbeddedMongo({
    dir: path.join(dir, 'mongodb'),
    onEvent: (event) => event.type === 'started' && (enginePid = event.pid),
  });
  undo.push(() => engine.stop());
  const client = new MongoClient(engine.uri);
  undo.push(() => client.close());

  const env = environment(engine.uri, dir);
  async function start(module: string, settings: NodeJS.ProcessEnv = {}): Promise<MeasuredProcess> {
    const started = await startMeasured(module, { ...env, ...settings }, dir);
    undo.push(() => started.stop());
    return started;
  }
  const tandem = await start('tandem-server');
  const bare = await start('bare-server');
  async function startOutside(which: keyof typeof SERVERS, settings: NodeJS.ProcessEnv = {}): Promise<StartedServer> {
    const started = await startServer(fileURLToPath(new URL(SERVERS[which], import.meta.url)), { ...env, ...settings }, dir);
    undo.push(() => started.kill());
    return started;
  }
  async function startOwnRedis(): Promise<RedisServer> {
    const redis = await startRedis();
    undo.push(() => redis.close());
    return redis;
  }
  return {
    tandem,
    bare,
    engine: { cpu: async () => cpuTimeOf(enginePid) },
    start,
    startServer: startOutside,
    startRedis: startOwnRedis,
    db: client.db(),
    database: (name) => ({ db: client.db(name), settings: { MONGODB_URI: engine.uri.replace('/tandem?', `/${name}?`) } }),
    people: hasPeople ? await signUp(tandem.url, CONNECTIONS) : [],
    isQuick,
  };
}
