import { randomUUID } from 'node:crypto';
import { access, constants, copyFile, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { createDiskAddresses } from './disk-addresses.js';
import { dispositionOf } from './disposition.js';
import { ADDRESS_MS, type FilesDriver, type StoredObject } from './files.driver.js';

const OBJECT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Holds bodies until they have arrived completely. */
const INCOMING = 'incoming';
/** Incomplete uploads of a dead process are removed after this time, in milliseconds: no upload takes so long. */
const LEFT_OVER_MS = 60 * 60_000;
/** Error codes of file systems without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

export interface DiskFilesOptions {
  dir: string;
  /** The first signs URLs, all verify. */
  secrets: readonly string[];
  publicUrl: string;
  now: () => Date;
}

/** @returns false. @throws any other failure */
function isMissing(error: unknown): false {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
  throw error;
}

/** Makes what was put into a file or folder outlast a power cut. */
async function sync(place: string): Promise<void> {
  const handle = await open(place, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the folder of a file, if it is the first in it. */
async function makeFolderOf(file: string): Promise<void> {
  const folder = path.dirname(file);
  const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
  if (isNew) await sync(path.dirname(folder));
}

/** Keeps files in a folder that only its owner can read. Instances that share the folder share the files. */
export function openDiskFilesDriver({ dir, secrets, publicUrl, now }: DiskFilesOptions): FilesDriver {
  const addresses = createDiskAddresses(secrets, publicUrl, now);
  const incoming = path.join(dir, INCOMING);
  let tidied = Promise.resolve();
  let tidyAt = -Infinity;

  /** @throws Error unless it is a UUID: no other text may become part of a path */
  function folderOf(objectId: string): string {
    if (!OBJECT_ID.test(objectId)) throw new Error('an object id is a UUID');
    // spread over folders by the last characters, which are random: one folder with all files would be slow
    return objectId.slice(-2);
  }
  const fileOf = (objectId: string) => path.join(dir, folderOf(objectId), objectId);

  /** Removes the leftovers of dead processes. */
  async function tidy(): Promise<void> {
    await mkdir(incoming, { recursive: true, mode: 0o700 });
    for (const name of await readdir(incoming)) {
      const file = path.join(incoming, name);
      const facts = await stat(file).catch(() => undefined);
      if (facts && facts.mtimeMs < Date.now() - LEFT_OVER_MS) await rm(file, { force: true });
    }
  }

  /** Looks again once those can be old enough that were too young before. */
  function tidyWhenDue(): Promise<void> {
    const time = now().getTime();
    if (time < tidyAt) return tidied;
    tidyAt = time + LEFT_OVER_MS;
    tidied = tidy().catch((error: unknown) => {
      tidyAt = -Infinity;
      throw error;
    });
    return tidied;
  }

  async function write(temporary: string, size: number, body: Readable) {
    const file = await open(temporary, 'wx', 0o600);
    try {
      let received = 0;
      // a client that sends too much still gets an answer, so the connection is not cut here
      for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        received += chunk.length;
        if (received > size) return 'too large';
        await file.writeFile(chunk);
      }
      if (received < size) return 'too small';
      await file.sync();
      return 'stored';
    } finally {
      await file.close();
    }
  }

  async function receive({ objectId, size }: StoredObject, body: Readable, mayStore: () => Promise<void>) {
    const target = fileOf(objectId);
    await tidyWhenDue();
    const temporary = path.join(incoming, randomUUID());
    try {
      const result = await write(temporary, size, body);
      if (result === 'stored') {
        await mayStore();
        await makeFolderOf(target);
        await rename(temporary, target);
        await sync(path.dirname(target));
      }
      return result;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  return {
    addressMs: ADDRESS_MS,
    uploadUrl: async (object) => addresses.addressOf('upload', object),
    downloadUrl: async (object, milliseconds) => addresses.addressOf('download', object, milliseconds),
    async read({ objectId }) {
      const file = await open(fileOf(objectId), 'r');
      return file.createReadStream();
    },
    async write(object, body) {
      const result = await receive(object, body, async () => {});
      if (result !== 'stored') throw new Error(`an object was ${result}`);
    },
    async copy({ objectId, size }, to) {
      const [source, target] = [fileOf(objectId), fileOf(to)];
      try {
        await makeFolderOf(target);
        // uploads replace a file and never write into one, so the other link keeps its content
        await link(source, target).catch(async (error: NodeJS.ErrnoException) => {
          if (!NO_LINKS.has(error.code ?? '')) throw error;
          await copyFile(source, target, constants.COPYFILE_EXCL);
          await sync(target);
        });
        await sync(path.dirname(target));
        // the type needs no check: the URL of an upload accepts only that type
        return (await stat(target)).size === size;
      } catch (error) {
        return isMissing(error);
      }
    },
    holds: ({ objectId, size }) => stat(fileOf(objectId)).then((found) => found.size === size, isMissing),
    remove: (objectId) => rm(fileOf(objectId), { force: true }),
    async verify() {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await access(dir, constants.W_OK);
    },
    async close() {},
    local: {
      grantOf: (action, objectId, query) => (OBJECT_ID.test(objectId) ? addresses.read(action, objectId, query) : undefined),
      receive,
      locate({ objectId, type }) {
        return { root: dir, file: path.join(folderOf(objectId), objectId), disposition: dispositionOf(type) };
      },
    },
  };
}
