import type { Readable } from 'node:stream';

/** For how long an address may be used, in milliseconds (decisions, section 6). */
export const ADDRESS_MS = 15 * 60_000;

/** An object as it was issued: what is stored under its id has this type and this size in bytes, or is not that object. */
export interface StoredObject {
  /** A UUID; where it is stored is named by it alone. */
  objectId: string;
  /** Media type, without parameters. */
  type: string;
  size: number;
}

/** Where files are kept. A host may hand in one of its own. */
export interface FilesDriver {
  /** For how long its addresses may be used, in milliseconds. */
  readonly addressMs: number;
  /** An address that takes one PUT of exactly this type and size, for `addressMs`. Asks nobody. */
  uploadUrl(object: StoredObject): Promise<string>;
  /** An address to GET the object from, for `addressMs`. Asks nobody, and not whether it is there. */
  downloadUrl(object: StoredObject): Promise<string>;
  /**
   * Copies the object to another id, which no upload address is ever made for, so that nobody changes it there (decision H16).
   * @returns whether it was there, whole, with its type and size; what is copied is what was looked at, else nothing is
   * @throws when the storage cannot be asked
   */
  copy(object: StoredObject, to: string): Promise<boolean>;
  /** Removes what is stored under an id; nothing there is fine. @throws when the storage cannot be asked */
  remove(objectId: string): Promise<void>;
  /** Whether files can be kept: for `tandem doctor`. @throws what is wrong */
  verify?(): Promise<void>;
  /** Lets go of connections. */
  close(): Promise<void>;
  /** Where the addresses are of the server itself: what it answers them with. */
  local?: LocalFiles;
}

/** Files that the server itself takes and gives. */
export interface LocalFiles {
  /** What a signed address allows; undefined when it is not one of ours, was changed, or has expired. In constant time. */
  grantOf(action: 'upload' | 'download', objectId: string, query: URLSearchParams): StoredObject | undefined;
  /**
   * Stores a body as this object: whole, or not at all. Nothing beyond the object's size is read.
   * @param mayStore asked when the body has arrived, before it takes the object's place; throws to refuse
   * @returns whether the body had that size; nothing is stored of another
   * @throws when the body breaks off, or cannot be written; what `mayStore` throws
   */
  receive(object: StoredObject, body: Readable, mayStore: () => Promise<void>): Promise<'stored' | 'too large' | 'too small'>;
  /** Where the file of a granted object is, if there is one, and whether a browser may show it in place. */
  locate(object: StoredObject): { root: string; file: string; disposition: 'inline' | 'attachment' };
}
