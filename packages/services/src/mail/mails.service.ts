import { describeError, type Log } from '@tandem/core';
import type { Mail, MailDriver } from '@tandem/drivers/mail';
import { QUEUE_LEASE_MS, createQueueWorker, type Storage } from '@tandem/storage';
import { createMailQueue } from './mail-queue.js';
import type { QueuedMailRecord } from './mail.model.js';
import { createRenderer } from './outgoing-mail.js';
import type { MailSettings, PreparedMail, QueuedMail } from './queued-mail.js';
import { createRecentMails } from './recent-mails.js';

export type MailsService = ReturnType<typeof createMailsService>;

type Prepare = (mail: QueuedMail & { id: string }) => Promise<PreparedMail | undefined>;

/** Time limit for sending, in milliseconds, for any driver. Sending and preparation together end before the lease does. */
const SEND_MS = QUEUE_LEASE_MS - 10_000;
const ADDRESS = /^[^\s<>,;"()\\]+@[^\s<>,;"()\\@]+$/;

/** The parts of a driver's error that may be logged. Its text may quote addresses. */
function failureOf(error: unknown): object {
  const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown };
  return {
    ...(typeof responseCode === 'number' && { smtpCode: responseCode }),
    ...(typeof code === 'string' && /^\w{1,40}$/.test(code) && { code }),
  };
}

/** @throws Error when the driver takes too long, so that a hanging driver does not block other mails */
async function sendInTime(driver: MailDriver, mail: Mail): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<never>((_resolve, reject) => {
    const late = Object.assign(new Error('the mail driver is too slow'), { code: 'ETIMEDOUT' });
    timer = setTimeout(() => reject(late), SEND_MS);
  });
  try {
    await Promise.race([driver.send(mail), isLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** A queued row in its original form. */
function asGiven({ _id: id, template, to, identityId, values, expiresAt }: QueuedMailRecord): QueuedMail & { id: string } {
  const given = {
    ...(to !== null && { to }),
    ...(identityId !== null && { identityId }),
    ...(expiresAt !== null && { expiresAt }),
  };
  return { id, template, values, ...given };
}

/** The mails of all services (decisions A14), queued in the store and sent by a worker that retries. */
export function createMailsService({ storage, log, settings = {} }: { storage: Storage; log: Log; settings?: MailSettings }) {
  const { driver } = settings;
  if (driver && settings.linksUrl === undefined) throw new Error('mail.linksUrl is missing: mails contain links');
  const render = createRenderer(settings);
  const queue = createMailQueue(storage);
  const recentMails = createRecentMails(storage);
  const underWay = new Set<string>();
  const sending = createQueueWorker({
    collect: () => collect(),
    async claim() {
      // excludes own mails in progress, even if their lease has run out
      const mail = await queue.claim([...underWay]);
      if (mail) underWay.add(mail._id);
      return mail;
    },
    handle: (mail) => deliver(mail).finally(() => underWay.delete(mail._id)),
    onFailure: (error) => log.warn({ err: describeError(error) }, 'working on the mail queue failed; it will be retried'),
  });
  /** Outcomes of this process's attempts. */
  const results = { sent: 0, retried: 0, 'given up': 0, expired: 0 };
  let hasSaidSo = false;
  let collect = (): Promise<void> => Promise.resolve();
  let prepare: Prepare = async ({ to, values }) => (to === undefined ? undefined : { to, ...(values && { values }) });

  /** Prepares and renders a mail; undefined when there is nothing to send. @throws what `prepare` and `render` throw */
  async function makeReady(mail: QueuedMailRecord): Promise<Mail | undefined> {
    const start = performance.now();
    const prepared = await prepare(asGiven(mail));
    if (!prepared) return undefined;
    if (!ADDRESS.test(prepared.to)) {
      log.error({ mailId: mail._id, template: mail.template }, 'a mail was dropped: its recipient is not an address');
      return undefined;
    }
    if (performance.now() - start > QUEUE_LEASE_MS - SEND_MS) throw new Error('preparing a mail took too long');
    return render(mail, prepared);
  }

  /** Sends a mail and removes it from the queue, or puts it back. @throws when the queue cannot be reached */
  async function deliver(mail: QueuedMailRecord): Promise<void> {
    const about = { mailId: mail._id, template: mail.template, attempts: mail.attempts };
    async function putBack(reason: object): Promise<void> {
      const isRetried = await queue.postpone(mail);
      results[isRetried ? 'retried' : 'given up'] += 1;
      if (isRetried) log.warn({ ...about, ...reason }, 'a mail was not sent; it will be retried');
      else log.error({ ...about, ...reason }, 'a mail was not sent and is given up');
    }

    if (mail.expiresAt !== null && mail.expiresAt <= storage.clock.now()) {
      results.expired += 1;
      log.warn(about, 'a mail was not sent before it expired');
      return queue.remove(mail);
    }
    let ready: Mail | undefined;
    try {
      ready = await makeReady(mail);
    } catch (error) {
      return putBack({ err: describeError(error) });
    }
    if (ready) {
      try {
        if (driver) await sendInTime(driver, ready);
      } catch (error) {
        return putBack(failureOf(error));
      }
      results.sent += 1;
      log.debug(about, 'a mail was sent');
    }
    return queue.remove(mail);
  }

  return {
    /** Whether there is a driver: else no mail is queued here. */
    isOn: driver !== undefined,
    /** Outcomes of this process's attempts. */
    results: results as Readonly<typeof results>,
    /** State of the queue, which all instances share. @throws when the store cannot be reached */
    queueState: queue.state,

    /**
     * Queues mails by one write and wakes this process's worker. Without a driver nothing is queued.
     * @param onceAMinute name of the mail's kind and recipient; within a minute after one was queued no other is (decisions H9)
     * @throws when the store cannot be reached; some mails may then be queued. Repeat with the same ids
     */
    async enqueue(mails: readonly QueuedMail[], onceAMinute?: string): Promise<void> {
      if (!driver) {
        if (!hasSaidSo) log.debug({}, 'there is no mail driver: mails are not sent');
        hasSaidSo = true;
        return;
      }
      if (mails.length === 0) return;
      const rows = mails.map(
        ({ id, template, to = null, identityId = null, values = {}, isUnique = false, expiresAt = null }) => {
          return { id, template, to, identityId, values, isUnique, expiresAt };
        },
      );
      const addAs = (mailId: string) => queue.add(rows.map((row, at) => ({ ...row, id: `${mailId}.${at}`, isUnique: true })));
      if (onceAMinute === undefined) await queue.add(rows);
      else if (!(await recentMails.queueOnce(onceAMinute, addAs))) return;
      sending.wake();
    },

    /** Lets the driver forget mails to these addresses, or about them. @throws what its driver throws */
    async forget(addresses: readonly string[]): Promise<void> {
      if (addresses.length > 0) await driver?.forget?.(addresses);
    },

    /**
     * Sets the function that prepares a mail when it is sent: recipient, and token or code. If it returns undefined the mail is
     * dropped; if it throws the mail is retried. Call once, when wiring services.
     */
    prepareWith(given: Prepare): void {
      prepare = given;
    },

    /**
     * Sets the function that queues mails which dead processes left with the records that caused them. Call once, when wiring
     * services.
     */
    collectWith(given: () => Promise<void>): void {
      collect = given;
    },

    /**
     * Sends everything due, and waits for mails in progress in this process. A failed mail is logged and put back.
     * @throws when the store cannot be reached
     */
    work: (): Promise<void> => (driver ? sending.work() : Promise.resolve()),

    /**
     * Starts sending: mails queued in this process at once; those of other instances, crashes and failures by polling.
     * @param pollMs poll interval in milliseconds; default 5,000
     * @returns stops it, and waits for mails in progress
     */
    startSending: (pollMs?: number): (() => Promise<void>) => (driver ? sending.start(pollMs) : () => Promise.resolve()),
  };
}
