import { z } from 'zod';
import type { RelatedRows, Relations } from './related.js';

/** A record with the related records that `$expand` adds. Those of its parts stand in its schema. */
export type Expandable<Row extends z.ZodType, Related extends Relations> = z.output<Row> &
  Partial<Omit<RelatedRows<Related>, `${string}.${string}`>>;

interface Made {
  schema: z.ZodObject;
  /** Whether the OpenAPI document names it after the row. */
  isFirst: boolean;
}
const made = new WeakMap<z.ZodObject, Map<Relations | undefined, Made>>();

/** The schema of rows with these relations. */
export function expandableOf(row: z.ZodObject, relations: Relations): Made {
  const ofRow = made.get(row) ?? new Map<Relations | undefined, Made>();
  made.set(row, ofRow);
  const related = Object.entries(relations)
    .filter(([name]) => !name.includes('.'))
    .map(([name, { kind, isMany }]) => {
      const shown = isMany ? z.array(kind.row.nullable()) : kind.row.nullable();
      return [name, shown.optional()] as const;
    });
  const key = related.length > 0 ? relations : undefined;
  const existing = ofRow.get(key);
  if (existing) return existing;
  const isFirst = ofRow.size === 0;
  const id = z.globalRegistry.get(row)?.id;
  const named = isFirst && id !== undefined ? { id: `Expanded${id}` } : {};
  const schema = key ? undescribed(row).extend(Object.fromEntries(related)).meta(named) : row;
  ofRow.set(key, { schema, isFirst });
  return { schema, isFirst };
}

/** The same schema without descriptions of its fields, which the documents have once. */
function undescribed(row: z.ZodObject): z.ZodObject {
  const fields = Object.entries(row.shape).map(([name, field]) => {
    const schema = field as z.ZodType;
    return [name, z.globalRegistry.get(schema)?.id === undefined ? schema.meta({ description: undefined }) : schema] as const;
  });
  return z.object(Object.fromEntries(fields));
}
