import { openMailDriver } from '@tandem/drivers/mail';
import { openStorage, type Storage } from '@tandem/storage';
import { databaseOf, startMailServer, type MailServer, type TestClock } from '@tandem/testing';
import { queuedMailModel, type QueuedMailRecord } from '../src/mail/mail.model.js';
import { createMailsService, type MailsService } from '../src/mail/mails.service.js';
import type { MailSettings } from '../src/mail/queued-mail.js';

/** The mails of one instance. */
export interface MailInstance {
  mails: MailsService;
  storage: Storage;
  /** Every log line so far, as text. */
  logs(): string;
}

/** A queue of its own, a mail server, and as many instances as a test starts. */
export interface MailFixture extends AsyncDisposable {
  uri: string;
  clock: TestClock;
  server: MailServer;
  /**
   * An instance with a connection of its own. It sends when `work` is called.
   * @param query of its `MAIL_URL`
   */
  start(settings?: MailSettings, query?: string): Promise<MailInstance>;
  /** What is queued. */
  rows(): Promise<QueuedMailRecord[]>;
  /** Forgets what is queued. */
  clear(): Promise<void>;
}

/** A clock that stands still until it is moved: what is due does not depend on how fast the machine is. */
function createStandingClock(): TestClock {
  let time = Date.now();
  return {
    now: () => new Date(time),
    advance(milliseconds) {
      time += milliseconds;
    },
  };
}

/** @param name of the database: one a test file */
export async function openMailFixture(name: string): Promise<MailFixture> {
  const uri = databaseOf(name);
  const clock = createStandingClock();
  const server = await startMailServer();
  const storages: Storage[] = [];
  const closings: (() => Promise<void>)[] = [];

  async function open(): Promise<Storage> {
    const storage = await openStorage({ uri, clock });
    storage.model(queuedMailModel);
    storages.push(storage);
    return storage;
  }
  const own = await open();
  await own.ensureIndexes();
  const { collection } = own.model(queuedMailModel);

  return {
    uri,
    clock,
    server,
    async start(settings = {}, query = '') {
      const driver = openMailDriver(server.url + query, { outboxDir: '' });
      closings.push(() => driver.close());
      const lines: string[] = [];
      const note = (level: string) => (details: object, text: string) =>
        void lines.push(JSON.stringify({ level, ...details, text }));
      const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
      const mail = { driver, from: 'Tandem <no-reply@tandem.test>', linksUrl: 'https://app.example.org/account/', ...settings };
      const storage = await open();
      return { mails: createMailsService({ storage, log, settings: mail }), storage, logs: () => lines.join('\n') };
    },
    rows: async () => (await collection.find({}).sort({ _id: 1 }).toArray()) as unknown as QueuedMailRecord[],
    async clear() {
      await collection.deleteMany({});
    },
    async [Symbol.asyncDispose]() {
      server.stall(false);
      await Promise.all(closings.map((closeDriver) => closeDriver()));
      await Promise.all(storages.map((storage) => storage.close()));
      await server.close();
    },
  };
}
