import { stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { contactProviders } from '@tandem/services';
import { systemClock } from '@tandem/storage';
import { Command } from 'commander';
import { configurationAdvice } from '../config-findings.js';
import { guessableSecrets } from '../guessable-secrets.js';
import { readConfig, type Config } from '../config.js';
import { databaseProblem } from '../database.js';
import { openDrivers, type Drivers } from '../drivers.js';
import { createLog } from '../logging.js';
import { publicUrlOf, withDatabase, type CommandContext } from './with-database.js';

/** Free space below which the doctor warns, in bytes. */
const LITTLE_SPACE = 1024 ** 3;

/** Largest accepted difference between clocks, in milliseconds: instances rely on times that others have written. */
const CLOCK_TOLERANCE_MS = 1000;

/** A mail queued longer than this means that none are sent, in milliseconds. */
const OLD_MAIL_MS = 60 * 60_000;

/** One result; `advice` says what to do when something is wrong. */
interface Finding {
  subject: string;
  advice?: string;
}

function lookAtConfiguration(config: Config): Finding[] {
  const weak = configurationAdvice(config);
  return weak.length === 0 ? [{ subject: 'configuration' }] : weak.map((advice) => ({ subject: 'configuration', advice }));
}

/** Checks that secrets are strong, and that only their owner can read those of development. */
async function lookAtSecrets({ authSecrets, dataDir, development }: Config): Promise<Finding[]> {
  const advices = guessableSecrets(authSecrets);
  const file = path.join(dataDir, 'secrets.json');
  const mode = development ? ((await stat(file).catch(() => undefined))?.mode ?? 0) : 0;
  if ((mode & 0o077) !== 0) advices.push(`others can read the development secrets: run  chmod 600 ${file}`);
  return advices.length === 0 ? [{ subject: 'secrets' }] : advices.map((advice) => ({ subject: 'secrets', advice }));
}

/** Checks that mails can be sent; a mail server is contacted, with its password. */
async function lookAtMail(config: Config, drivers: Drivers): Promise<Finding> {
  const subject =
    config.mail.url === 'outbox:' ? 'mail: written into DATA_DIR/outbox' : 'mail: the server of MAIL_URL takes mails';
  try {
    await drivers.mail.verify?.();
  } catch (error) {
    const { code = 'unknown', responseCode = '' } = error as { code?: string; responseCode?: number };
    return { subject: 'mail', advice: `mails cannot leave (${[code, responseCode].join(' ').trim()}): check MAIL_URL` };
  }
  return { subject };
}

/** Checks that files can be stored; a bucket is contacted, with its credentials. */
async function lookAtFiles(config: Config, drivers: Drivers): Promise<Finding> {
  const subject = config.files.url === 'disk:' ? 'files: kept in DATA_DIR/files' : 'files: the bucket of FILES_URL answers';
  const refusal = await drivers.files.verify?.().then(
    () => undefined,
    (error: unknown) => `files cannot be kept (${error instanceof Error ? error.name : 'unknown'}): check FILES_URL`,
  );
  return { subject, ...(refusal !== undefined && { advice: refusal }) };
}

/** Checks the Redis that instances share, where one is configured. */
async function lookAtRedis(drivers: Drivers): Promise<Finding[]> {
  if (!drivers.redis) return [];
  const subject = 'redis: the server of REDIS_URL';
  const refusal = await drivers.redis.verify().then(
    () => undefined,
    ({ message }: Error) =>
      message.startsWith('NOPERM')
        ? 'its user may not do everything: allow it all of Tandem, by  ACL SETUSER <user> +@all ~tandem:* &tandem:*'
        : 'it does not answer, or refuses: check REDIS_URL; until it works each instance limits separately',
  );
  return [{ subject, ...(refusal !== undefined && { advice: refusal }) }];
}

/** Checks that identity providers can be reached; those with fixed addresses are not contacted. */
async function lookAtProviders({ providers }: Config): Promise<Finding[]> {
  const advice = 'its issuer does not answer, or not as one: check OAUTH_<PROVIDER>_ISSUER or _TENANT, and the way to it';
  return (await contactProviders(providers)).map(([name, isUsable]) => ({
    subject: `identity provider: ${name}`,
    ...(!isUsable && { advice }),
  }));
}

/** Checks DATA_DIR, where anything is kept in it. */
async function lookAtDisk(config: Config): Promise<Finding[]> {
  const hasEngine = config.mongodbUri === undefined;
  if (!hasEngine && config.mail.url !== 'outbox:' && config.files.url !== 'disk:' && !config.development) return [];
  const facts = await statfs(config.dataDir).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown');
  if (typeof facts === 'string') {
    const advice = `DATA_DIR cannot be used (${facts}): create the folder, and make the server's user its owner`;
    return [{ subject: 'disk', advice }];
  }
  const { bavail, bsize } = facts;
  const free = bavail * bsize;
  const subject = `disk: ${(free / 1024 ** 3).toFixed(1)} GiB free for DATA_DIR`;
  const advice = `free some space: a full disk stops ${hasEngine ? 'the database' : 'what is kept there'}`;
  return [{ subject, ...(free < LITTLE_SPACE && { advice }) }];
}

/** Compares this machine's clock with the database's. */
async function lookAtClock({ storage }: CommandContext): Promise<Finding> {
  const before = Date.now();
  const theirs = (await storage.time()).getTime();
  const after = Date.now();
  const difference = Math.max(before - theirs, theirs - after, 0);
  const subject = "clock: agrees with the database's";
  if (difference <= CLOCK_TOLERANCE_MS) return { subject };
  return { subject: 'clock', advice: `it differs from the database's by ${difference} ms: let a time service set both` };
}

async function lookAtStore({ storage, tandem, config }: CommandContext): Promise<Finding[]> {
  await storage.ping();
  const reports = await storage.indexReport();
  const missing = reports.flatMap(({ collection, declared }) =>
    declared.filter(({ exists }) => !exists).map(({ index }) => `${collection}.${index}`),
  );
  const hasAdmin = await tandem.services.identities.hasAnyOf(config.typeIds.admin);
  return [
    { subject: `database: answers (${config.mongodbUri === undefined ? 'embedded engine' : 'MONGODB_URI'})` },
    { subject: 'indexes', ...(missing.length > 0 && { advice: `run  tandem indexes  to make ${missing.join(', ')}` }) },
    { subject: 'admin', ...(!hasAdmin && { advice: 'there is none: run  tandem admin create --email you@example.org' }) },
  ];
}

/** Checks whether an earlier secret is still needed, to open what it sealed. */
async function lookAtFactors({ tandem }: CommandContext): Promise<Finding> {
  const people = await tandem.services.factors.countSealedBefore();
  if (people === 0) return { subject: 'factors: sealed by the first AUTH_ENC_SECRET' };
  const kept = `keep the earlier AUTH_ENC_SECRET: it sealed the authenticator apps of ${people} people, until each is used`;
  return { subject: 'factors', advice: kept };
}

/** Checks that mails are sent: none should have waited for long. */
async function lookAtMailQueue({ tandem, storage }: CommandContext): Promise<Finding> {
  const { length, oldestAt } = await tandem.services.mails.queueState();
  const subject = `mail queue: ${length} waiting`;
  if (!oldestAt || storage.clock.now().getTime() - oldestAt.getTime() < OLD_MAIL_MS) return { subject };
  return { subject, advice: `the oldest since ${oldestAt.toISOString()}: see the server's log for the reason` };
}

/** Checks that need no database, and so run even when it is unavailable. */
async function lookAtDrivers(config: Config): Promise<Finding[]> {
  const log = createLog({ level: 'warn', readable: false, destination: process.stderr });
  const drivers = await openDrivers(config, { log, publicUrl: publicUrlOf(config), clock: systemClock });
  try {
    return [await lookAtMail(config, drivers), await lookAtFiles(config, drivers), ...(await lookAtRedis(drivers))];
  } finally {
    await drivers.close();
  }
}

/** Checks the store and its contents; an unavailable store is a finding too. */
async function lookAtDatabase(): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    await withDatabase(async (context) => {
      findings.push(...(await lookAtStore(context)), await lookAtClock(context));
      findings.push(await lookAtFactors(context), await lookAtMailQueue(context));
    });
  } catch (error) {
    findings.push({ subject: 'database', advice: databaseProblem(error) });
  }
  return findings;
}

/**
 * `tandem doctor`: checks configuration, secrets, disk, database, indexes, admins, clock, mail, files, Redis and identity
 * providers, and says what to do.
 */
export function createDoctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check configuration, secrets, disk, database, indexes, clock, mail, files, Redis and identity providers, and say what to do',
    )
    .action(async () => {
      const config = readConfig(process.env);
      const findings = [
        ...lookAtConfiguration(config),
        ...(await lookAtSecrets(config)),
        ...(await lookAtDatabase()),
        ...(await lookAtDrivers(config)),
        ...(await lookAtProviders(config)),
        ...(await lookAtDisk(config)),
      ];
      for (const { subject, advice } of findings)
        console.log(advice === undefined ? `ok   ${subject}` : `look ${subject}: ${advice}`);
      if (findings.some(({ advice }) => advice !== undefined)) process.exitCode = 1;
    });
}
