import type { Readable } from 'node:stream';

/** Lifetime of a URL, in milliseconds (decisions, section 6). */
export const ADDRESS_MS = 15 * 60_000;

/** An object as issued: a stored file counts as it only with this type and this size in bytes. */
export interface StoredObject {
  /** A UUID; it alone determines where the object is stored. */
  objectId: string;
  /** Media type, without parameters. */
  type: string;
  size: number;
}

/** Storage for files. A host application may pass its own. */
export interface FilesDriver {
  /** Lifetime of its URLs, in milliseconds. */
  readonly addressMs: number;
  /** A URL that accepts one PUT of exactly this type and size, for `addressMs`. Makes no request. */
  uploadUrl(object: StoredObject): Promise<string>;
  /**
   * A URL to GET the object from, for `addressMs` or the given milliseconds. Makes no request, and does not check that the object
   * exists.
   */
  downloadUrl(object: StoredObject, milliseconds?: number): Promise<string>;
  /**
   * Reads an object. Without this the server gets it from its download URL.
   * @throws an error with the code `ENOENT` when it is missing, another when it is unavailable
   */
  read?(object: StoredObject): Promise<Readable>;
  /** Stores an object whole. Without this the server puts it to its upload URL. @throws when that failed */
  write?(object: StoredObject, body: Readable): Promise<void>;
  /**
   * Copies the object to another id, for which no upload URL is ever made, so that nobody can change the copy (decision
   * H16).
   * @returns whether it existed, complete, with its type and size; only the version that was checked is copied
   * @throws when the storage is unavailable
   */
  copy(object: StoredObject, to: string): Promise<boolean>;
  /** Whether the object exists, complete, with its type and size. @throws when the storage is unavailable */
  holds(object: StoredObject): Promise<boolean>;
  /** Removes what is stored under an id; does nothing when nothing is. @throws when the storage is unavailable */
  remove(objectId: string): Promise<void>;
  /** Whether files can be stored: for `tandem doctor`. @throws what is wrong */
  verify?(): Promise<void>;
  /** Closes connections. */
  close(): Promise<void>;
  /** Set where the URLs lead to this server: how it serves them. */
  local?: LocalFiles;
}

/** Files that the server itself receives and serves. */
export interface LocalFiles {
  /** What a signed URL grants; undefined when it is not ours, was changed, or has expired. Takes constant time. */
  grantOf(action: 'upload' | 'download', objectId: string, query: URLSearchParams): StoredObject | undefined;
  /**
   * Stores a body as this object, completely or not at all. Reads nothing beyond the object's size.
   * @param mayStore called when the body has arrived, before it becomes the object; throws to refuse
   * @returns whether the body had that size; a body of another size is not stored
   * @throws when the body breaks off or cannot be written; what `mayStore` throws
   */
  receive(object: StoredObject, body: Readable, mayStore: () => Promise<void>): Promise<'stored' | 'too large' | 'too small'>;
  /** The file of a granted object, if it exists, and whether a browser may display it. */
  locate(object: StoredObject): { root: string; file: string; disposition: 'inline' | 'attachment' };
}
