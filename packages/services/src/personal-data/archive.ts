import { setImmediate } from 'node:timers/promises';
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate';

/** Bytes that are compressed at once, so that other requests wait for little. */
const PIECE = 32 * 1024;
const NOTHING = new Uint8Array();

/** One file of an archive. */
export interface ArchiveEntry {
  write(chunk: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/** Makes a ZIP archive, a piece at a time. One entry is open at a time. @param write takes what is ready */
export function createArchive(write: (chunk: Uint8Array) => Promise<void>) {
  const ready: Uint8Array[] = [];
  let failure: Error | undefined;
  const zip = new Zip((error, chunk) => {
    if (error) failure = error;
    else ready.push(chunk);
  });

  async function drain(): Promise<void> {
    if (failure) throw failure;
    for (const chunk of ready.splice(0)) await write(chunk);
    await setImmediate();
  }

  return {
    /** @param isCompressed already, as pictures are */
    begin(name: string, at: Date, isCompressed = false): ArchiveEntry {
      const entry = isCompressed ? new ZipPassThrough(name) : new ZipDeflate(name, { level: 3 });
      entry.mtime = at;
      zip.add(entry);
      return {
        async write(chunk) {
          for (let from = 0; from < chunk.length; from += PIECE) {
            entry.push(chunk.subarray(from, from + PIECE));
            await drain();
          }
        },
        async end() {
          entry.push(NOTHING, true);
          await drain();
        },
      };
    },

    async end(): Promise<void> {
      zip.end();
      await drain();
    },
  };
}
