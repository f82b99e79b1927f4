import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { fixture } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { openMailFixture } from '../../test/mail-fixture.js';

const SCRIPT = fileURLToPath(new URL('../../test/dying-mailer.js', import.meta.url));

const system = fixture(() => openMailFixture('mail_crash'));
beforeEach(() => system.clear());

/** Another process that queues a mail to somebody, and then dies, or sends. */
function startProcess(end: 'queue' | 'send'): { child: ChildProcess; ended: Promise<unknown[]>; to: string } {
  const to = `${crypto.randomUUID()}@example.org`;
  const child = spawn(process.execPath, [SCRIPT, system.uri, system.server.url, to, end], { stdio: 'inherit' });
  return { child, ended: once(child, 'exit'), to };
}

describe('when a process is killed', () => {
  it('after it queued a mail, another one sends it', async () => {
    const { ended, to } = startProcess('queue');
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(await system.rows()).toMatchObject([{ to, attempts: 0 }]);
    const { mails } = await system.start();
    // two processes have two clocks
    system.clock.advance(60_000);
    await mails.work();
    expect(system.server.count(to)).toBe(1);
    expect(await system.rows()).toEqual([]);
  });

  it('while it sends a mail, another one sends it when the lease is over, and not before', async () => {
    system.server.stall(true);
    const { child, ended, to } = startProcess('send');
    await Promise.race([system.server.whenHeld(), ended]);
    child.kill('SIGKILL');
    await ended;
    system.server.stall(false);
    const [row] = await system.rows();
    expect(row).toMatchObject({ to, attempts: 1 });

    const { mails } = await system.start();
    const leased = (row?.dueAt.getTime() ?? 0) - system.clock.now().getTime();
    system.clock.advance(leased - 1);
    await mails.work();
    expect(system.server.count(to)).toBe(0);
    system.clock.advance(1);
    await mails.work();
    expect(system.server.count(to)).toBe(1);
    expect(await system.rows()).toEqual([]);
  });
});
