import type { ListCollection, ListResource, RelatedReader, RelatedSource, StoreFilter } from '@tandem/list-query';
import type { BaseRecord, Model } from '@tandem/storage';
import type { z } from 'zod';
import type { Extension } from './extension.js';
import type { Fitting } from './fitting.js';

/**
 * A kind of related records (decisions N2). The service that owns the records says with `lists.relate` where they are,
 * so that a list which shows them does not depend on that service.
 */
export interface RelatedKind<Row = unknown> {
  readonly name: string;
  /** What a related record shows. */
  readonly row: z.ZodType<Row>;
  /** Who asks decides what is shown: a public list then reads a token that is given. */
  readonly isPrivate: boolean;
  /** For records in a collection: their hidden fields. */
  readonly resource?: ListResource;
}

/** Declares a kind of related records. */
export function relatedKind<Row>(
  name: string,
  row: z.ZodType<Row>,
  { resource, isPrivate = false }: { resource?: ListResource; isPrivate?: boolean } = {},
): RelatedKind<Row> {
  // relations of related records are not followed
  return { name, row, isPrivate, ...(resource && { resource: { ...resource, relations: new Map() } }) };
}

/** A relation of a list: the stored field that names related records of a kind, by one id or by a list of ids. */
export interface DeclaredRelation<Row = unknown, IsMany extends boolean = boolean> {
  kind: RelatedKind<Row>;
  from: string;
  isMany: IsMany;
}

/** @param from the path of the stored id */
export function relatedOne<Row>(kind: RelatedKind<Row>, from: string): DeclaredRelation<Row, false> {
  return { kind, from, isMany: false };
}
/** @param from the path of the stored ids */
export function relatedMany<Row>(kind: RelatedKind<Row>, from: string): DeclaredRelation<Row, true> {
  return { ...relatedOne(kind, from), isMany: true };
}

/** The related records of a list, by relation. */
export type Relations = Readonly<Record<string, DeclaredRelation>>;

/** The resource of a list with these relations. @throws Error for a relation that is also a field */
export function withRelations<Resource extends ListResource>(resource: Resource, relations: Relations): Resource {
  const both = Object.keys(relations).find((name) => resource.fields.has(name));
  if (both !== undefined) throw new Error(`${resource.name}: ${both} is a field and a relation`);
  const declared = Object.entries(relations).map(([name, { from, kind }]) => {
    return [name, { from, to: '_id', resource: () => kind.resource }] as const;
  });
  const known = { relations: new Map(declared) };
  return { ...resource, ...known, ...(resource.whole && { whole: { ...resource.whole, ...known } }) };
}

/** What rows show of their relations. */
export type RelatedRows<Of extends Relations> = {
  [Name in keyof Of]: Of[Name] extends DeclaredRelation<infer Row, infer IsMany>
    ? IsMany extends true
      ? (Row | null)[]
      : Row | null
    : never;
};

/** Sets fields of many rows. */
export type Completion<Row> = (rows: Row[]) => Promise<void>;

/** Public records in a collection. */
export interface RelatedRecords<Row> {
  model: Model<BaseRecord>;
  scope?: StoreFilter;
  show(record: never): Row;
  /** Functions that set a field by another query, for all records at once. */
  complete?: { readonly [Name in keyof Row]?: Completion<Row> };
}

/** Where the records of a kind are: in a collection, or found for the caller of a query. */
export type RelatedOrigin<Row> =
  RelatedRecords<Row> | { find(ids: readonly string[], query: object): Promise<ReadonlyMap<string, Row>> };

/** Creates the register of where related records are. */
export function createRelatedOrigins(fit: Fitting, { schema }: Extension) {
  const origins = new Map<unknown, RelatedOrigin<never>>();
  return {
    /** Says where the records of a kind are. */
    relate<Row>(kind: RelatedKind<Row>, origin: RelatedOrigin<Row>): void {
      origins.set(kind, origin as RelatedOrigin<never>);
    },

    /** The sources of relations, for one query. @throws Error for a kind whose records are nowhere */
    sourcesOf(relations: Relations, query: object): Record<string, RelatedSource | RelatedReader> {
      const sources = Object.entries(relations).map(([name, { kind }]) => {
        const origin = origins.get(kind);
        if (!origin) throw new Error(`The records of the relation ${name} are nowhere`);
        if ('find' in origin) return [name, { read: (ids: readonly string[]) => origin.find(ids, query) }] as const;
        const { model, scope, show, complete = {} } = origin;
        const completions = Object.values(complete) as Completion<unknown>[];
        const collection = model.collection as unknown as ListCollection;
        const source: RelatedSource = {
          collection,
          show: (record) =>
            fit(collection.collectionName, schema(kind.row), record, show as unknown as (record: object) => unknown),
          ...(scope && { scope }),
          ...(completions.length > 0 && {
            async complete(rows: unknown[]) {
              await Promise.all(completions.map((run) => run(rows)));
            },
          }),
        };
        return [name, source] as const;
      });
      return Object.fromEntries(sources);
    },
  };
}
