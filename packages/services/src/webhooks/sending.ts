import { describeError, type Log } from '@tandem/core';
import { createQueueWorker, type Storage } from '@tandem/storage';
import type { Deliveries } from './deliveries.js';
import type { DeliveryRecord, LineRecord } from './delivery.models.js';
import { SLOW_FOR_MS, type Lines, type LineState } from './lines.js';
import type { Requests } from './requests.js';
import { signedHeaders } from './signatures.js';
import type { WebhookRecord } from './webhook.model.js';

/** Webhooks that a process sends to at once, and how many of these may be slow ones, or new ones. */
const LANES = 24;
const SLOW_LANES = 12;
/** From which duration of a request on a receiver is slow, in milliseconds. */
const SLOW_MS = 2000;
/** Deliveries of a webhook that are read, and sent, at once: their bodies are in memory. */
const AT_ONCE = 5;
/** How long a worker begins requests to one webhook before others have their turn, in milliseconds. The last end before the lease does. */
const TURN_MS = 5000;
/** After which time without a success a webhook is disabled, in milliseconds (decisions E2). */
const GIVE_UP_MS = 3 * 24 * 60 * 60_000;
/** How often a webhook that is away with its organization is looked for, in milliseconds. */
const AWAY_MS = 60 * 60_000;
const GONE = 410;
const POLL_MS = 5000;
/** How long requests under way may last when a server closes, in milliseconds. */
const CLOSE_MS = 5000;

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'Tandem-Webhooks' };

interface SendingOptions {
  storage: Storage;
  log: Log;
  lines: Lines;
  deliveries: Deliveries;
  requests: Requests;
  /** A live webhook that is enabled. */
  find(webhookId: string): Promise<WebhookRecord | undefined>;
  /** Whether it is deleted with its organization, and so comes back with it. */
  isAway(webhookId: string): Promise<boolean>;
  /** @returns false if it has another address, or is disabled or gone */
  disable(webhook: WebhookRecord): Promise<boolean>;
  /** Tells of disabled webhooks what processes that died have not. */
  collect(): Promise<void>;
}

/** One worker's turn at a webhook. */
interface Turn extends Pick<LineState, 'failingSince' | 'slowUntil'> {
  webhook: WebhookRecord;
  isGone: boolean;
  /** Whether the webhook has another address, or is disabled or gone: another turn sees to it. */
  isOld: boolean;
  /** By the clock that says what is due: of this process, or of the store where that is ahead. */
  now(): Date;
  /** Whether it begins no other request. */
  isOver(): boolean;
}

/** Those about one subject are sent one after another. */
function bySubject(rows: readonly DeliveryRecord[]): DeliveryRecord[][] {
  const groups = new Map<string, DeliveryRecord[]>();
  for (const row of rows) groups.set(row.subjectId, [...(groups.get(row.subjectId) ?? []), row]);
  return [...groups.values()];
}

/**
 * Sends deliveries. A webhook has one turn at a time, over all instances, in which it gets what is due; so a slow receiver holds
 * one lane, and slow and new ones together half of them.
 */
export function createSending(options: SendingOptions) {
  const { storage, log, lines, deliveries, requests, find, isAway, disable, collect } = options;
  const { clock } = storage;
  /** Those that count as slow and have a turn here. */
  const slowOnes = new Set<LineRecord>();
  /** Claims under way that may find a slow one. */
  let claiming = 0;
  let isClosing = false;
  let stop: (() => Promise<void>) | undefined;

  async function send(row: DeliveryRecord, body: string | undefined, turn: Turn): Promise<void> {
    const { webhook } = turn;
    turn.isOld ||= (await find(webhook._id))?.url !== webhook.url;
    if (turn.isOver()) return;
    // only if somebody removed it
    if (body === undefined)
      return deliveries.note(row, { status: null, durationMs: 0, error: 'the event is gone' }, turn.now(), true);
    const headers = { ...HEADERS, ...signedHeaders(webhook.secrets, clock.now(), row.eventId, body) };
    const answer = await requests.post(new URL(webhook.url), headers, body);
    // cut off by the end of this server: it is sent again
    if (answer.status === null && isClosing) return;
    turn.isGone ||= answer.status === GONE;
    if (answer.durationMs >= SLOW_MS) turn.slowUntil = new Date(clock.now().getTime() + SLOW_FOR_MS);
    turn.failingSince = answer.error === null ? null : (turn.failingSince ?? clock.now());
    // also after 410: if the address is another by now, that gets it, else it is given up with the others
    await deliveries.note(row, answer, turn.now(), false);
    log.debug(
      { webhookId: webhook._id, deliveryId: row._id, status: answer.status, attempts: row.attempts + 1 },
      'a webhook was called',
    );
  }

  /** Sends what is due. */
  async function sendDue(turn: Turn): Promise<void> {
    const { webhook } = turn;
    while (!turn.isOver()) {
      const rows = await deliveries.due(webhook._id, turn.now(), AT_ONCE);
      if (rows.length === 0) return;
      const bodies = await deliveries.bodiesOf(rows, webhook);
      await Promise.all(
        bySubject(rows).map(async (group) => {
          for (const row of group) if (!turn.isOver()) await send(row, bodies.get(row.eventId), turn);
        }),
      );
    }
  }

  async function work(line: LineRecord): Promise<void> {
    const { _id: webhookId, failingSince = null, failingUrl, slowUntil = null, updatedAt: claimedAt } = line;
    const webhook = await find(webhookId);
    /** Nobody gives up what another worker may have begun to send. */
    async function giveUp(): Promise<void> {
      if (!(await lines.holds(line))) return;
      const isOther = webhook !== undefined && !(await disable(webhook));
      if (!isOther) await deliveries.giveUp(webhookId);
      await lines.release(line, { dueAt: isOther ? claimedAt : null, failingSince: null, failingUrl: null, slowUntil });
    }
    if (!webhook && (await isAway(webhookId))) {
      const isAnyLeft = (await deliveries.nextAt(webhookId)) !== null;
      const dueAt = isAnyLeft ? new Date(clock.now().getTime() + AWAY_MS) : null;
      return lines.release(line, { dueAt, failingSince, failingUrl: failingUrl ?? null, slowUntil });
    }
    if (!webhook) return giveUp();
    const end = performance.now() + TURN_MS;
    const turn: Turn = {
      webhook,
      failingSince: (failingUrl ?? webhook.url) === webhook.url ? failingSince : null,
      slowUntil,
      isGone: false,
      isOld: false,
      now: () => new Date(Math.max(clock.now().getTime(), claimedAt.getTime())),
      isOver: () => isClosing || turn.isGone || turn.isOld || performance.now() >= end,
    };
    const { now } = turn;
    await sendDue(turn);
    const endsAt = turn.failingSince && new Date(turn.failingSince.getTime() + GIVE_UP_MS);
    if (turn.isGone || (endsAt && endsAt <= now())) return giveUp();
    const nextAt = await deliveries.nextAt(webhookId);
    const first = endsAt && (!nextAt || endsAt < nextAt) ? endsAt : nextAt;
    // what is left waits behind other webhooks
    const dueAt = first && first < now() ? now() : first;
    const failing = { failingSince: turn.failingSince, failingUrl: turn.failingSince && webhook.url };
    await lines.release(line, { dueAt, ...failing, slowUntil: turn.slowUntil });
    const wait = (nextAt ?? clock.now()).getTime() - clock.now().getTime();
    if (wait > 0 && wait <= POLL_MS) setTimeout(worker.wake, wait).unref();
  }

  const worker = createQueueWorker<LineRecord>({
    collect,
    lanes: LANES,
    async claim() {
      const now = clock.now();
      if (slowOnes.size + claiming >= SLOW_LANES) return lines.claim({ slowUntil: { $not: { $gt: now } } });
      claiming += 1;
      try {
        const line = await lines.claim({});
        if (line?.slowUntil && line.slowUntil > now) slowOnes.add(line);
        return line;
      } finally {
        claiming -= 1;
      }
    },
    handle: (line) => work(line).finally(() => slowOnes.delete(line)),
    onFailure: (error) => log.warn({ err: describeError(error) }, 'sending to webhooks failed; it will be retried'),
  });

  return {
    wake: worker.wake,

    /** Sends everything due, and waits for requests under way in this process. @throws when the store cannot be reached */
    work: worker.work,

    /** Starts sending: what this process queues at once; the rest by polling. @param pollMs in milliseconds; default 5,000 */
    start(pollMs = POLL_MS): void {
      isClosing = false;
      stop ??= worker.start(pollMs);
    },

    /** Stops sending. Requests that last longer than five seconds are cut off, and sent again by another instance or the next start. */
    async close(): Promise<void> {
      isClosing = true;
      const cut = setTimeout(() => requests.abort(), CLOSE_MS);
      await stop?.().finally(() => clearTimeout(cut));
      clearTimeout(cut);
      stop = undefined;
    },
  };
}
