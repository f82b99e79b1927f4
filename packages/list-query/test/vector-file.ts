import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { FieldType } from '../src/index.js';

type Pairs = [string, string][];

/** The required answer. */
export interface Expectation {
  status: number;
  total?: number;
  count?: number;
  ids?: string[];
  rows?: Record<string, unknown>[];
  unordered?: boolean;
  subsetRows?: Record<string, unknown>[];
  walk?: boolean;
  nextToken?: 'absent' | 'present';
}

/** Changes of the data between two pages. */
export interface AfterPage1 {
  softDelete?: string[];
  delete?: string[];
  insert?: Record<string, unknown>[];
  /** New values of fields by id. */
  update?: Record<string, Record<string, unknown>>;
}

/** One case of the conformance set; `meta.rules` of the file explains each part. */
export interface Vector {
  name: string;
  query: Pairs;
  expect: Expectation;
  alsoAccept?: Expectation[];
  maxMs?: number;
  scope?: Record<string, unknown> | null;
  tokenScope?: Record<string, unknown> | null;
  tokenFrom?: Record<string, string> | Pairs;
  tamper?: string;
  topByPage?: string[];
  topAsIds?: boolean;
  afterPage1?: AfterPage1;
}

export interface VectorFile {
  resource: {
    name: string;
    types: Record<string, FieldType>;
    hidden: string[];
    relations: Record<string, { from: string; to?: string }>;
  };
  data: Record<string, Record<string, unknown>[]>;
  vectors: Vector[];
}

/**
 * The file named by `LIST_QUERY_VECTORS`, relative to where npm was called or to here; by default the package's own
 * copy.
 */
export function readVectors(): VectorFile {
  const own = path.join(import.meta.dirname, 'vectors.json');
  const named = process.env['LIST_QUERY_VECTORS'];
  const places = named ? [process.env['INIT_CWD'], process.cwd()].map((from) => path.resolve(from ?? '', named)) : [own];
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error(`LIST_QUERY_VECTORS names ${named}, which is no file`);
  return JSON.parse(readFileSync(found, 'utf8')) as VectorFile;
}
