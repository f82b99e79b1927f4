import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { NamedPerson, Storage } from '@tandem/storage';
import type { OwnFile, WholeFiles } from '../files/files-export.js';
import { createArchive, type ArchiveEntry } from './archive.js';

/** Files that an archive has at most, and their bytes: the format ends at 65,535, and at four gigabytes. */
const FILES_MAX = 60_000;
const BYTES_MAX = 3 * 1024 ** 3;
/** Its parts are bounded, so that the time grows with the length of the text alone; it ends in no punctuation. */
const ADDRESS = /[^\s<>"@,;:()[\]]{1,254}@[^\s<>"'@,;:()[\]]{0,254}[^\s<>"'@,;:()[\].!?]/g;
/** Stands where somebody else's address stood. */
const SOMEBODY = '(an email address)';

interface ContentsOptions {
  storage: Storage;
  files: WholeFiles;
  signal: AbortSignal;
  /** Whether to go on without files that cannot be read. */
  leaveOut?: boolean;
}

/** What JSON can hold, without the addresses of others. */
function withoutOthers(value: unknown, own: ReadonlySet<string>): unknown {
  /** Also behind an apostrophe: `d'alice@example.org`. */
  const isOwn = (address: string) => {
    const parts = address.toLowerCase().split("'");
    return parts.some((_, first) => own.has(parts.slice(first).join("'")));
  };
  const inText = (text: string) =>
    text.includes('@') ? text.replaceAll(ADDRESS, (address) => (isOwn(address) ? address : SOMEBODY)) : text;
  if (typeof value === 'string') return inText(value);
  if (Array.isArray(value)) return value.map((one) => withoutOthers(one, own));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [inText(key), withoutOthers(one, own)]));
}

/** A file's ending, by its type. */
const endingOf = (type: string) => /\/([\w.-]+)/.exec(type)?.[1]?.split('.').at(-1) ?? 'bin';

/** Writes the archive of a person's data into a file: a list of records for each collection, and the person's files. */
export async function writeContents(
  file: string,
  person: NamedPerson,
  { storage, files, signal, leaveOut }: ContentsOptions,
): Promise<void> {
  const { unproved = [], ...named } = person;
  const own = new Set([...named.emails, ...unproved].map((email) => email.toLowerCase()));
  const now = storage.clock.now();
  const out = createWriteStream(file, { flags: 'r+' });
  // it may fail while nobody waits for it
  out.on('error', () => {});
  const archive = createArchive(async (chunk) => {
    if (out.errored) throw out.errored;
    if (!out.write(chunk)) await once(out, 'drain', { signal });
  });
  const encoder = new TextEncoder();
  const counts: Record<string, number> = {};

  async function writeRecords(): Promise<void> {
    let open: { collection: string; entry: ArchiveEntry } | undefined;
    const close = async () => {
      await open?.entry.write(encoder.encode('\n]\n'));
      await open?.entry.end();
    };
    for await (const { collection, path, records } of storage.people.exported(named, { signal })) {
      const isFirst = open?.collection !== collection;
      if (isFirst) {
        await close();
        open = { collection, entry: archive.begin(`${collection}.json`, now) };
      }
      const lines: string[] = [];
      for (const { _id: id, ...fields } of records) {
        const plain: unknown = JSON.parse(JSON.stringify({ namedAs: path, id, ...fields }));
        lines.push(JSON.stringify(withoutOthers(plain, own)));
        // other requests wait no longer than for one record
        await setImmediate();
      }
      await open?.entry.write(encoder.encode(`${isFirst ? '[\n' : ',\n'}${lines.join(',\n')}`));
      counts[collection] = (counts[collection] ?? 0) + records.length;
    }
    await close();
  }

  /** @returns the ids of those for which there was no room, and of those that could not be read whole */
  async function writeFiles(): Promise<string[]> {
    const leftOut: string[] = [];
    let count = 0;
    let bytes = 0;

    const goOn = (error: unknown): undefined => {
      if (!leaveOut || signal.aborted) throw error;
    };

    /** No more than the size, also of what is unpacked on the way, as behind an address. Who takes the parts may throw. */
    async function* partsOf({ id, size }: OwnFile, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      let room = size;
      try {
        for await (const chunk of content) {
          yield chunk.subarray(0, room);
          room -= chunk.length;
          if (room < 0) break;
        }
      } catch (error) {
        goOn(error);
      }
      if (room !== 0) leftOut.push(id);
    }

    for await (const own of files.ofPerson(person.id)) {
      const { id, type, size } = own;
      if (count === FILES_MAX || bytes + size > BYTES_MAX) {
        leftOut.push(id);
        continue;
      }
      const content = await own.open().catch(goOn);
      if (!content) {
        leftOut.push(id);
        continue;
      }
      count += 1;
      bytes += size;
      const entry = archive.begin(`files/${id}.${endingOf(type)}`, now, true);
      for await (const part of partsOf(own, content)) {
        signal.throwIfAborted();
        await entry.write(part);
      }
      await entry.end();
    }
    return leftOut;
  }

  try {
    await writeRecords();
    const filesLeftOut = await writeFiles();
    const about = archive.begin('about.json', now);
    const facts = { identityId: person.id, at: now, records: counts, ...(filesLeftOut.length > 0 && { filesLeftOut }) };
    await about.write(encoder.encode(`${JSON.stringify(facts, null, 2)}\n`));
    await about.end();
    await archive.end();
    if (out.errored) throw out.errored;
    out.end();
    await once(out, 'finish', { signal });
  } catch (error) {
    out.destroy();
    throw error;
  }
}
