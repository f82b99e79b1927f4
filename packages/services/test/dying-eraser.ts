import { openFilesDriver } from '@tandem/drivers/files';
import { openMailDriver } from '@tandem/drivers/mail';
import { openStorage } from '@tandem/storage';
import { TEST_SECRETS, startStoreProxy, type TestClock } from '@tandem/testing';
import path from 'node:path';
import { createTandem } from '../src/tandem.js';

/** An instance that erases when it is told to, and of which the store hears nothing after some writes: as if it had been killed. */
export interface DyingEraser extends AsyncDisposable {
  /** Erases whom is due. @returns what it has written, as `collection.command`, and whether that was all */
  erase(): Promise<{ passed: string[]; isDone: boolean }>;
}

/** @param writes how many it lives for */
export async function openDyingEraser(
  { mongodbUri, clock, folder }: { mongodbUri: string; clock: TestClock; folder: string },
  writes: number,
): Promise<DyingEraser> {
  const passed: string[] = [];
  let isCut = (): void => {};
  const cut = new Promise<void>((resolve) => (isCut = resolve));
  let isLate = false;
  const proxy = await startStoreProxy(mongodbUri, {
    mayPass({ collection, command }) {
      if (passed.length < writes || !isLate) {
        if (isLate) passed.push(`${collection}.${command}`);
        return true;
      }
      isCut();
      return false;
    },
  });
  const storage = await openStorage({ uri: proxy.uri, clock });
  const files = await openFilesDriver('disk:', {
    dir: path.join(folder, 'files'),
    secrets: ['s'.repeat(32)],
    publicUrl: 'http://localhost',
    now: () => clock.now(),
  });
  const mail = openMailDriver('outbox:', { outboxDir: path.join(folder, 'outbox') });
  const tandem = await createTandem({
    storage,
    authSecrets: TEST_SECRETS,
    mail: { driver: mail, linksUrl: 'http://localhost' },
    files: { driver: files },
    erasureDelay: '0s',
  });
  return {
    async erase() {
      isLate = true;
      const isDone = await Promise.race([tandem.runJobs().then(() => true), cut.then(() => false)]);
      return { passed, isDone };
    },
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await storage.close();
    },
  };
}
