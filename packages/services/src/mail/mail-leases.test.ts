import { QUEUE_LEASE_MS, type Clock, type Storage } from '@tandem/storage';
import { fixture } from '@tandem/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openMailFixture } from '../../test/mail-fixture.js';
import { createMailQueue, type MailQueue } from './mail-queue.js';
import type { QueuedMailRecord } from './mail.model.js';

const HOUR = 60 * 60_000;

const system = fixture(() => openMailFixture('mail_leases'));
let storage: Storage & { clock: Clock };
/** Two processes. */
let slow: MailQueue;
let other: MailQueue;
beforeAll(async () => {
  ({ storage } = await system.start());
  [slow, other] = [createMailQueue(storage), createMailQueue((await system.start()).storage)];
});
beforeEach(() => system.clear());

async function claim(queue: MailQueue): Promise<QueuedMailRecord> {
  const mail = await queue.claim([]);
  if (!mail) throw new Error('no mail is due');
  return mail;
}
/** A mail that one process took, and whose lease ran out before that had done with it. */
async function loseLease(expiresAt: Date | null = null): Promise<QueuedMailRecord> {
  const mail = {
    id: undefined,
    template: 'deactivated',
    to: 'ann@example.org',
    identityId: null,
    values: {},
    isUnique: false,
    expiresAt,
  } as const;
  await slow.add([mail]);
  const lost = await claim(slow);
  system.clock.advance(QUEUE_LEASE_MS);
  return lost;
}

describe('a process that has lost its lease of a mail', () => {
  it.each(['another process', 'itself'])('puts back nothing that %s is sending meanwhile', async (who) => {
    const lost = await loseLease();
    const current = await claim(who === 'itself' ? slow : other);
    expect(await slow.postpone(lost)).toBe(true);
    expect(await system.rows()).toEqual([current]);
    system.clock.advance(QUEUE_LEASE_MS - 1);
    expect(await slow.claim([])).toBeUndefined();
  });

  it.each(['another process', 'itself'])('gives up nothing that %s is sending meanwhile', async (who) => {
    const lost = await loseLease();
    system.clock.advance(49 * HOUR);
    const current = await claim(who === 'itself' ? slow : other);
    expect(await slow.postpone(lost)).toBe(false);
    expect(await system.rows()).toEqual([current]);
  });
});

it('who has the lease puts the mail back, and gives up one that is too old', async () => {
  await loseLease();
  const current = await claim(other);
  expect(await other.postpone(current)).toBe(true);
  expect(await system.rows()).toMatchObject([{ owner: null, attempts: 2 }]);
  system.clock.advance(49 * HOUR);
  expect(await other.postpone(await claim(other))).toBe(false);
  expect(await system.rows()).toEqual([]);
});
