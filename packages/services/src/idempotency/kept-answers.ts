import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { requestErrors, type Attempt, type KeptAnswers, type KeyedCall } from '@tandem/core';
import { idsFrom, isDuplicateKey, newId, timeInStore, type Storage } from '@tandem/storage';
import { idempotencyKeyModel, type IdempotencyKeyRecord } from './idempotency-key.model.js';

/** Lifetime of a key, in milliseconds (decisions R6). */
const LIFETIME_MS = 24 * 60 * 60_000;
/** Pauses between looks at an attempt under way, in milliseconds. */
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 400;

function hash(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** The same for bodies whose keys come in another order. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const keys = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(keys.map(([key, one]) => [key, inOrder(one)]));
}

/** Never resolves. @throws the signal's reason once it is aborted */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

/**
 * Keeps the answers of calls with an `Idempotency-Key`. An attempt first reserves the key together with the id of what
 * it will create, so that the store refuses a second record whichever process dies, stalls or comes late.
 * @param holdMs how long an attempt keeps others waiting: as long as its own caller waits for it
 */
export function createKeptAnswers({ storage, holdMs }: { storage: Storage; holdMs: number }): KeptAnswers {
  const { clock } = storage;
  const { collection } = storage.model(idempotencyKeyModel);
  const timeNow = () => timeInStore(clock);

  /** Lets the next attempt begin. If this fails, the attempt is over with its time. */
  async function free(own: object): Promise<void> {
    await collection.updateOne(own, { $set: { heldUntil: new Date(0) } }).catch(() => undefined);
  }

  /**
   * Takes the key by one atomic write if it is new, expired, or its attempt is over without an answer.
   * @param holder names this attempt, and what it creates if the key is new
   * @returns the key as it is then
   */
  async function claim(
    _id: string,
    identityId: string,
    { bodyHashes, holder }: { bodyHashes: readonly string[]; holder: string },
  ): Promise<IdempotencyKeyRecord> {
    const now = clock.now();
    const fresh = {
      _id,
      identityId,
      bodyHash: bodyHashes[0],
      recordId: holder,
      answer: null,
      createdAt: now,
      updatedAt: now,
    };
    const held = { holder, heldUntil: { $add: [timeNow(), holdMs] } };
    // by the store's time: a process whose clock is ahead must not take every key for expired
    const isOpen = { $lte: [{ $ifNull: ['$expiresAt', timeNow()] }, timeNow()] };
    const expiresAt = { $add: [timeNow(), LIFETIME_MS] };
    const isLeft = {
      $and: [{ $in: ['$bodyHash', bodyHashes] }, { $eq: ['$answer', null] }, { $lte: ['$heldUntil', timeNow()] }],
    };
    const takenOver = { $cond: [isLeft, { $mergeObjects: ['$$ROOT', held] }, '$$ROOT'] };
    const stages = [
      { $replaceWith: { $cond: [isOpen, { $mergeObjects: [{ $literal: fresh }, { expiresAt }, held] }, takenOver] } },
    ];
    const write = () => collection.findOneAndUpdate({ _id } as object, stages, { upsert: true, returnDocument: 'after' });
    // when two race to insert, the loser gets a duplicate key and retries
    const taken = await write()
      .catch(async (error: unknown) => {
        if (!isDuplicateKey(error)) throw error;
        return write();
      })
      .catch(async (error: unknown) => {
        // it may be written: nobody should wait for it
        await free({ _id, holder });
        throw error;
      });
    return taken as unknown as IdempotencyKeyRecord;
  }

  async function watch(_id: string): Promise<void> {
    const underWay = { _id, answer: null, $expr: { $gt: ['$heldUntil', timeNow()] } } as object;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      await setTimeout(pause, undefined, { ref: false });
      if (!(await collection.findOne(underWay, { projection: { _id: 1 } }))) return;
    }
  }
  const watches = new Map<string, Promise<void>>();
  /** Waits until the attempt under way is over. Those who wait here for the same one look together. */
  function over(_id: string): Promise<void> {
    const watching = watches.get(_id) ?? watch(_id).finally(() => watches.delete(_id));
    watches.set(_id, watching);
    return watching;
  }

  /** @throws an error for which `isStoreUnavailable` is true while an earlier attempt is left to the next sweep */
  async function expectSettled({ _id, holder, recordId }: IdempotencyKeyRecord): Promise<void> {
    try {
      await storage.expectSettled(recordId);
    } catch (error) {
      await free({ _id, holder });
      throw error;
    }
  }

  function attemptOf({ _id, recordId, holder }: IdempotencyKeyRecord): Attempt {
    const own = { _id, holder } as object;
    const isRepeated = recordId !== holder;
    return {
      newIds: () => idsFrom(recordId),
      isRepeated,
      async keep(answer, etag) {
        await collection.updateOne(own, {
          $set: { answer: JSON.stringify(answer ?? null), etag: etag ?? null, updatedAt: clock.now() },
        });
      },
      async fail(isRefused) {
        // an earlier attempt may still store the record, under the id that the key keeps
        if (isRefused && !isRepeated) await collection.deleteOne(own).catch(() => undefined);
        else await free(own);
      },
    };
  }

  return {
    async begin({ identityId, operation, key, given, input }: KeyedCall, patience) {
      const [_id, holder] = [hash(identityId, operation, key), newId(clock)];
      const bodyHashes = [hash(inOrder(given)), hash(input)];
      for (;;) {
        const found = await claim(_id, identityId, { bodyHashes, holder });
        if (!bodyHashes.includes(found.bodyHash)) throw requestErrors.keyReused();
        const { answer, etag } = found;
        if (answer !== null) return { answer: JSON.parse(answer) as unknown, ...(etag && { etag }) };
        if (found.holder === holder) {
          if (found.recordId !== holder) await expectSettled(found);
          return attemptOf(found);
        }
        const signal = patience();
        await Promise.race([over(_id), ...(signal ? [untilAborted(signal)] : [])]);
      }
    },
  };
}
