import { randomUUID } from 'node:crypto';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeError, requestErrors, type Log } from '@tandem/core';
import { isDuplicateKey, type Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import type { WholeFiles } from '../files/files-export.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import type { MailsService } from '../mail/mails.service.js';
import type { PreparedMail, QueuedMail } from '../mail/queued-mail.js';
import type { ErasureStep } from './erasures.service.js';
import { writeContents } from './export-contents.js';
import { exportModel, type ExportRecord } from './export.model.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How long the address of an archive works, and how often somebody may ask for one. */
const VALID_HOURS = 24;
const DAY_MS = VALID_HOURS * HOUR_MS;
/** After how long an export that has failed is tried again; after all of these it leaves out what cannot be read. */
const WAITS_MS = [MINUTE_MS, 10 * MINUTE_MS, HOUR_MS] as const;
/** Until the archive of somebody who was erased is removed once more. */
const LAST_LOOK_MS = 10 * MINUTE_MS;
const TYPE = 'application/zip';

interface ExportsOptions {
  storage: Storage;
  log: Log;
  identities: IdentitiesService;
  files: WholeFiles;
  mails: Pick<MailsService, 'enqueue' | 'isOn'>;
  audit: AuditService;
}

export type ExportsService = ReturnType<typeof createExportsService>;

/** Archives of people's data (decisions F7). The record says what is to be done; whichever process lives does it. */
export function createExportsService({ storage, log, identities, files, mails, audit }: ExportsOptions) {
  const { collection } = storage.model(exportModel);
  const { clock } = storage;
  const later = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);
  const byId = (_id: string) => ({ _id }) as object;

  async function drop({ objectId }: Pick<ExportRecord, 'objectId'>): Promise<void> {
    if (objectId !== null) await files.drop(objectId);
  }

  /** Works in a file that only this process can open, and that goes whatever happens. */
  async function withFile<T>(run: (file: string) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(path.join(tmpdir(), 'tandem-export-'));
    const file = path.join(folder, 'archive.zip');
    const handle = await open(file, 'wx+', 0o600);
    // its name is gone, should this process die
    const own = `/proc/self/fd/${handle.fd}`;
    const isNameless = await stat(own).then(
      () => true,
      () => false,
    );
    try {
      if (isNameless) await rm(folder, { recursive: true });
      return await run(isNameless ? own : file);
    } finally {
      await handle.close();
      await rm(folder, { recursive: true, force: true });
    }
  }

  async function remove(row: ExportRecord): Promise<void> {
    await drop(row);
    await collection.deleteOne({ _id: row._id, objectId: row.objectId, state: row.state } as object);
  }

  async function store(row: ExportRecord, signal: AbortSignal): Promise<void> {
    const { _id: identityId, attempts = 0 } = row;
    const credentials = await identities.credentialsOf({ id: identityId });
    // gone meanwhile
    if (!credentials) return remove(row);
    const addresses = await identities.knownAddressesOf(identityId, credentials);
    await drop(row);
    const objectId = randomUUID();
    const begun = await collection.updateOne({ ...byId(identityId), state: 'asked' }, { $set: { objectId } });
    if (begun.matchedCount === 0) return;
    const leaveOut = attempts >= WAITS_MS.length;
    const size = await withFile(async (file) => {
      await writeContents(file, { id: identityId, ...addresses }, { storage, files, signal, leaveOut });
      const { size: bytes } = await stat(file);
      await files.store({ objectId, type: TYPE, size: bytes }, file);
      return bytes;
    });
    const asked = { ...byId(identityId), state: 'asked', objectId } as object;
    const set = { state: 'stored', size, endsAt: later(DAY_MS), dueAt: clock.now(), attempts: 0 };
    // erased meanwhile
    if ((await collection.updateOne(asked, { $set: set })).matchedCount === 0) await files.drop(objectId);
  }

  async function tell({ _id: identityId, objectId, endsAt }: ExportRecord): Promise<void> {
    const values = { objectId: String(objectId), hours: VALID_HOURS };
    const mail = { id: `export.${String(objectId)}`, isUnique: true, template: 'export-ready' } as const;
    await mails.enqueue([{ ...mail, identityId, values, expiresAt: endsAt as Date }]);
    const stored = { _id: identityId, objectId, state: 'stored' } as object;
    await collection.updateOne(stored, { $set: { state: 'mailed', dueAt: endsAt } });
  }

  async function workOn(row: ExportRecord, signal: AbortSignal): Promise<void> {
    if (row.state === 'asked') await store(row, signal);
    else if (row.state === 'stored' && mails.isOn) await tell(row);
    else await remove(row);
  }

  /** What becomes of the archive of somebody who is erased. Its row stays a while: a process may be writing it, and die. */
  const erase: ErasureStep = async ({ id }) => {
    const living = { ...byId(id), state: { $ne: 'erased' } } as object;
    const set = { state: 'erased', dueAt: later(LAST_LOOK_MS) };
    const before = await collection.findOneAndUpdate(living, { $set: set });
    const row = (before ?? (await collection.findOne(byId(id)))) as unknown as ExportRecord | null;
    if (row) await drop(row);
    return before ? 1 : 0;
  };

  return {
    erase,

    /**
     * Asks for an archive, once a day. A mail tells the person of it.
     * @throws identityErrors.notFound, serviceAccount; requestErrors.tooMany; Error when there is no file storage
     */
    async request(identityId: string, by: RequestFacts): Promise<{ requestedAt: string }> {
      files.expectDriver();
      if ((await identities.existing([identityId])).size === 0) throw identityErrors.notFound();
      if ((await identities.serviceAccountOf(identityId)) !== undefined) throw identityErrors.serviceAccount();
      const now = clock.now();
      const isOver = { _id: identityId, requestedAt: { $lte: later(-DAY_MS) } } as object;
      const set = { requestedAt: now, state: 'asked', dueAt: now, attempts: 0, updatedAt: now };
      const first = { createdAt: now, objectId: null, size: 0, endsAt: null };
      try {
        await collection.updateOne(isOver, { $set: set, $setOnInsert: first }, { upsert: true });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const row = (await collection.findOne(byId(identityId))) as unknown as ExportRecord | null;
        const since = row ? now.getTime() - row.requestedAt.getTime() : 0;
        throw requestErrors.tooMany({ retryAfter: Math.max(1, Math.ceil((DAY_MS - since) / 1000)) });
      }
      await audit.record('export.requested', by, { identityId });
      return { requestedAt: now.toISOString() };
    },

    /** The address of an archive for its mail; nothing where it is gone. */
    async prepare({ identityId = '', values }: QueuedMail): Promise<PreparedMail | undefined> {
      const own = { _id: identityId, objectId: values?.['objectId'] ?? null } as object;
      const row = (await collection.findOne(own)) as unknown as ExportRecord | null;
      const account = await identities.credentialsOf({ id: identityId });
      const left = (row?.endsAt?.getTime() ?? 0) - clock.now().getTime();
      if (!row?.objectId || !account || left <= 0) return undefined;
      const { objectId, size } = row;
      const link = await files.addressOf({ objectId, type: TYPE, size }, left);
      return { to: account.email, values: { email: account.email, link, hours: Math.ceil(left / HOUR_MS) } };
    },

    /** Does what is due. */
    async work({ signal }: { signal: AbortSignal }): Promise<void> {
      const failed: string[] = [];
      for (;;) {
        signal.throwIfAborted();
        const now = await storage.time();
        // of one that is stored a process with mails tells; it goes like the others when its time is over
        const here = mails.isOn ? {} : { $or: [{ state: { $ne: 'stored' } }, { endsAt: { $lte: now } }] };
        const due = { dueAt: { $lte: now }, _id: { $nin: failed }, ...here } as object;
        const row = (await collection.findOne(due, { sort: { dueAt: 1 } })) as unknown as ExportRecord | null;
        if (!row) return;
        try {
          await workOn(row, signal);
        } catch (error) {
          signal.throwIfAborted();
          log.error({ err: describeError(error), identityId: row._id }, 'an export failed; it is tried again');
          failed.push(row._id);
          const dueAt = later(WAITS_MS[row.attempts ?? 0] ?? HOUR_MS);
          const same = { ...byId(row._id), state: row.state } as object;
          await collection.updateOne(same, { $set: { dueAt }, $inc: { attempts: 1 } });
        }
      }
    },
  };
}
