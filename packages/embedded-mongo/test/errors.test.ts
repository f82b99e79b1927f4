import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { EmbeddedMongoError, startEmbeddedMongo } from '../src/index.js';
import { prepareBinding } from '../src/native-library.js';
import { connect, startObserved, temporaryDirectory } from './fixture.js';
import { startScript, until } from './processes.js';

async function refusal(options: Parameters<typeof startEmbeddedMongo>[0]): Promise<EmbeddedMongoError> {
  const outcome = await startEmbeddedMongo(options).then(
    (mongo) => mongo.stop(),
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(EmbeddedMongoError);
  return outcome as EmbeddedMongoError;
}

/** A separate file system in memory; the test is skipped where mounting is not permitted. */
async function mount(options: string, { skip }: TestContext): Promise<string> {
  const directory = await temporaryDirectory();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory], { stdio: 'pipe' });
  } catch (error) {
    skip(`mounting a file system is not permitted here: ${String(error)}`);
  }
  onTestFinished(() => void execFileSync('umount', [directory]));
  return directory;
}

test('a file in place of the directory is refused by name', async () => {
  const file = join(await temporaryDirectory(), 'file');
  await writeFile(file, '');
  expect(await refusal({ dir: file })).toMatchObject({
    code: 'directory-not-writable',
    message: expect.stringContaining(file) as string,
  });
  expect(await refusal({ dir: join(file, 'below') })).toMatchObject({ code: 'directory-not-writable' });
});

test('a directory on a read-only file system is refused, whether or not it exists', async (context) => {
  const mounted = await mount('size=1m', context);
  await mkdir(join(mounted, 'there'));
  execFileSync('mount', ['-o', 'remount,ro', mounted]);
  for (const name of ['there', 'not-there']) {
    const dir = join(mounted, name);
    expect(await refusal({ dir })).toMatchObject({
      code: 'directory-not-writable',
      message: expect.stringContaining(dir) as string,
    });
  }
});

test('a directory used by a foreign engine is refused, with the process that uses it', async () => {
  const dir = await temporaryDirectory();
  const binding = await prepareBinding(await temporaryDirectory());
  const foreign = startScript('foreign-engine.js', [dir], { NAPI_RS_NATIVE_LIBRARY_PATH: binding });
  onTestFinished(() => foreign.kill());
  const { pid } = await foreign.line((line) => line.type === 'open');
  expect(await refusal({ dir, inUseWaitMs: 100 })).toMatchObject({
    code: 'directory-in-use',
    message: expect.stringMatching(`pid ${pid}.*MONGODB_URI`) as string,
  });
});

test('waiting for an engine that hangs has a limit', async () => {
  const dir = await temporaryDirectory();
  const mongo = await startObserved({ dir });
  process.kill(mongo.pid(), 'SIGSTOP');
  const error = await refusal({ dir, inUseWaitMs: 0 });
  process.kill(mongo.pid(), 'SIGCONT');
  expect(error).toMatchObject({ code: 'directory-in-use', message: expect.stringContaining(String(mongo.pid())) as string });
});

test.each(['WiredTiger.wt', '_mdb_catalog.wt', 'storage.bson'])('damage to %s is recognized', async (name) => {
  const dir = await temporaryDirectory();
  const mongo = await startEmbeddedMongo({ dir });
  await connect(mongo.uri).db().collection('notes').insertOne({ text: 'lost' });
  await mongo.stop();
  const file = await open(join(dir, name), 'r+');
  await file.write(Buffer.alloc(64, 0xa5), 0, 64, 0);
  await file.close();
  expect(await refusal({ dir })).toMatchObject({ code: 'data-damaged', message: expect.stringContaining('backup') as string });
});

test('a full disk at the start is reported', async (context) => {
  const dir = await mount('size=1m', context);
  await expect(writeFile(join(dir, 'ballast'), Buffer.alloc(2 ** 20 + 1))).rejects.toThrow('ENOSPC');
  expect(await refusal({ dir })).toMatchObject({ code: 'disk-full', message: expect.stringContaining('Free some') as string });
});

/**
 * Writes small documents, so that the journal reaches the end of the disk first, which ends the engine. Returns the
 * number acknowledged.
 */
async function fillTheDisk(uri: string): Promise<number> {
  const rows = connect(uri).db().collection('rows');
  for (let written = 0; ; written += 50) {
    const batch = Array.from({ length: 50 }, () => ({ filling: randomBytes(2000) }));
    const isFull = await rows.insertMany(batch).then(
      () => false,
      () => true,
    );
    if (isFull) return written;
  }
}

test('a disk that fills up is reported, and the engine comes back with its data once there is room', async (context) => {
  const mounted = await mount('size=52m', context);
  const ballast = join(mounted, 'ballast');
  await writeFile(ballast, Buffer.alloc(40 * 2 ** 20));
  const mongo = await startObserved({ dir: join(mounted, 'data'), restarts: { firstWaitMs: 500 } });
  const written = await fillTheDisk(mongo.uri);
  await until(() => mongo.events.length > 1);
  expect(mongo.events[1]).toMatchObject({ type: 'restarting', error: { code: 'disk-full' } });

  await rm(ballast);
  await mongo.started(2);
  expect(await connect(mongo.uri).db().collection('rows').countDocuments()).toBeGreaterThanOrEqual(written);
});

test('a disk that stays full is the reason for giving up', async (context) => {
  const dir = await mount('size=12m', context);
  const mongo = await startObserved({ dir, restarts: { firstWaitMs: 1, limit: 2 } });
  await fillTheDisk(mongo.uri);
  expect(await mongo.failed).toMatchObject({ code: 'disk-full' });
});
