/**
 * The engine's Linux build needs glibc 2.38 for seven symbols that have older equivalents: `fmod`, whose newer version
 * differs only in error handling, and six `__isoc23_*` functions, which differ from their namesakes only in reading
 * binary literals.
 */
const TOO_NEW = 'GLIBC_2.38';
const RENAMED_PREFIX = '__isoc23_';

/** Entry types of the dynamic section and the program headers, as named in `elf.h`. */
const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const DT_STRTAB = 5;
const DT_SYMTAB = 6;
const DT_VERSYM = 0x6ffffff0;
const DT_VERNEED = 0x6ffffffe;
const DT_VERNEEDNUM = 0x6fffffff;
const EM_X86_64 = 62;
const SYMBOL_BYTES = 24;

interface VersionNeed {
  at: number;
  hash: number;
  index: number;
  nameOffset: number;
  name: string;
}

/**
 * Binds the symbols of a 64-bit little-endian ELF library that need glibc 2.38 to their older equivalents in glibc
 * 2.36.
 *
 * @param library the bytes of the library; changed in place
 * @throws Error where the library has an unexpected structure; it must then not be used
 */
export function retargetSymbols(library: Buffer): void {
  const u16 = (at: number) => library.readUInt16LE(at);
  const u32 = (at: number) => library.readUInt32LE(at);
  const u64 = (at: number) => Number(library.readBigUInt64LE(at));

  if (library.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') throw new Error('not a 64-bit little-endian ELF file');
  const baseVersion = u16(18) === EM_X86_64 ? 'GLIBC_2.2.5' : 'GLIBC_2.17';

  const headers = Array.from({ length: u16(56) }, (_, i) => u64(32) + i * u16(54));
  const segments = headers
    .filter((at) => u32(at) === PT_LOAD)
    .map((at) => ({ address: u64(at + 16), offset: u64(at + 8), size: u64(at + 32) }));
  function offsetOf(address: number): number {
    const segment = segments.find((s) => address >= s.address && address < s.address + s.size);
    if (!segment) throw new Error(`no segment holds the address ${address}`);
    return address - segment.address + segment.offset;
  }

  const dynamicHeader = headers.find((at) => u32(at) === PT_DYNAMIC);
  if (dynamicHeader === undefined) throw new Error('no dynamic section');
  const dynamic = new Map<number, number>();
  for (let at = u64(dynamicHeader + 8); u64(at) !== 0; at += 16) dynamic.set(u64(at), u64(at + 8));
  function entry(tag: number): number {
    const value = dynamic.get(tag);
    if (value === undefined) throw new Error(`no dynamic entry ${tag}`);
    return value;
  }

  const strings = offsetOf(entry(DT_STRTAB));
  const symbols = offsetOf(entry(DT_SYMTAB));
  const symbolVersions = offsetOf(entry(DT_VERSYM));
  const stringAt = (offset: number) => library.toString('latin1', strings + offset, library.indexOf(0, strings + offset));

  function versionsNeeded(fileAt: number): VersionNeed[] {
    const needs: VersionNeed[] = [];
    let at = fileAt + u32(fileAt + 8);
    for (let i = 0; i < u16(fileAt + 2); i++) {
      needs.push({ at, hash: u32(at), index: u16(at + 6) & 0x7fff, nameOffset: u32(at + 8), name: stringAt(u32(at + 8)) });
      at += u32(at + 12);
    }
    return needs;
  }

  // The entry that required the new version now requires the base version, as do its symbols.
  const replacements = new Map<number, number>();
  let fileAt = offsetOf(entry(DT_VERNEED));
  for (let i = 0; i < entry(DT_VERNEEDNUM); i++) {
    const needs = versionsNeeded(fileAt);
    const tooNew = needs.find((need) => need.name === TOO_NEW);
    if (tooNew) {
      const base = needs.find((need) => need.name === baseVersion);
      if (!base) throw new Error(`no ${baseVersion} to bind to`);
      library.writeUInt32LE(base.hash, tooNew.at);
      library.writeUInt32LE(base.nameOffset, tooNew.at + 8);
      replacements.set(tooNew.index, base.index);
    }
    fileAt += u32(fileAt + 12);
  }

  // The number of symbols is not stated; the string table or the version table follows directly after them.
  const symbolCount = Math.floor(((strings > symbols ? strings : symbolVersions) - symbols) / SYMBOL_BYTES);
  for (let i = 1; i < symbolCount; i++) {
    const replacement = replacements.get(u16(symbolVersions + 2 * i) & 0x7fff);
    if (replacement === undefined) continue;
    const symbol = symbols + SYMBOL_BYTES * i;
    const name = stringAt(u32(symbol));
    if (name.startsWith(RENAMED_PREFIX)) library.writeUInt32LE(u32(symbol) + RENAMED_PREFIX.length, symbol);
    else if (name !== 'fmod') throw new Error(`no older equivalent known of ${name}`);
    library.writeUInt16LE(replacement, symbolVersions + 2 * i);
  }
}
