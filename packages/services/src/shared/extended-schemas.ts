import { z } from 'zod';

/** Keys of a schema's definition that hold other schemas. */
const INNER = ['innerType', 'element', 'in', 'out', 'left', 'right', 'keyType', 'valueType', 'rest'];
const INNER_LISTS = ['options', 'items'];

type Extend = (schema: z.ZodType) => z.ZodType;

/** The parts of a definition that are other schemas, where extending changes them. */
function changedParts(def: Record<string, unknown>, extend: Extend): Record<string, unknown> {
  const changed = (values: Record<string, z.ZodType> | z.ZodType[]) =>
    Object.entries(values).flatMap(([key, inner]) => (extend(inner) === inner ? [] : [[key, extend(inner)] as const]));
  const present = (keys: readonly string[]) => keys.filter((key) => typeof def[key] === 'object' && def[key] !== null);
  const single = changed(Object.fromEntries(present(INNER).map((key) => [key, def[key] as z.ZodType])));
  const lists = present(INNER_LISTS).flatMap((key) => {
    const list = def[key] as z.ZodType[];
    return changed(list).length > 0 ? [[key, list.map(extend)] as const] : [];
  });
  const fields = def['type'] === 'object' ? changed(def['shape'] as Record<string, z.ZodType>) : [];
  const shape = fields.length > 0 && { shape: { ...(def['shape'] as object), ...Object.fromEntries(fields) } };
  return { ...Object.fromEntries([...single, ...lists]), ...shape };
}

/**
 * Makes a function that adds fields to the objects of a schema, at any depth. What has none of these objects stays as it is, and
 * what has one keeps its name and description.
 * @param whole the schema in place of one that must be made as a whole
 * @param extend the object with the fields, if it gets any
 */
export function extendingSchemas(whole: Extend, extend: (object: z.ZodObject) => z.ZodObject | undefined) {
  const known = new Map<z.ZodType, z.ZodType>();

  function make(given: z.ZodType): z.ZodType {
    const other = whole(given);
    if (other !== given) return other;
    const parts = changedParts(given.def as unknown as Record<string, unknown>, extended);
    const inside = Object.keys(parts).length > 0 ? given.clone({ ...given.def, ...parts }) : given;
    const result = (inside instanceof z.ZodObject ? extend(inside) : undefined) ?? inside;
    const meta = z.globalRegistry.get(given);
    if (result !== given && meta) z.globalRegistry.add(result, meta);
    return result;
  }

  function extended(given: z.ZodType): z.ZodType {
    const made = known.get(given) ?? make(given);
    known.set(given, made);
    return made;
  }
  return extended as <Schema extends z.ZodType>(given: Schema) => Schema;
}
