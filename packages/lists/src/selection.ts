import { bindSelect, parseSelect, type ListResource, type RowFields } from '@tandem/list-query';
import { z } from 'zod';

/** Stored fields that a row's field is made of besides the one of its name. */
export type Reads<Row> = { readonly [Name in keyof Row]?: readonly string[] };

/** The fields of rows with this schema, each with the stored paths that it is made of. */
export function rowFieldsOf({ fields }: ListResource, { shape }: z.ZodObject, reads: Reads<Record<string, unknown>>): RowFields {
  const own = (name: string) => fields.get(name)?.path ?? name;
  return new Map(Object.keys(shape).map((name) => [name, [own(name), ...(reads[name] ?? [])]]));
}

/** The schema of some of a row's fields, for rows that lack the others. */
export function partOf<Row>(row: z.ZodType<Row>, names: Iterable<string>) {
  const { shape } = row as unknown as z.ZodObject;
  const kept = [...names].filter((name) => Object.hasOwn(shape, name));
  const partly = (value: unknown, read: (schema: z.ZodType, field: unknown) => unknown): Row => {
    const fields = kept.map((name) => [name, read(shape[name] as z.ZodType, (value as Record<string, unknown>)[name])] as const);
    return Object.fromEntries(fields.filter(([, field]) => field !== undefined)) as Row;
  };
  return {
    /** @throws z.ZodError */
    parse: (value: unknown): Row => partly(value, (schema, field) => schema.parse(field)),
    safeParse(value: unknown): { success: boolean; data?: Row } {
      let success = true;
      const data = partly(value, (schema, field) => {
        const result = schema.safeParse(field);
        success &&= result.success;
        return result.data;
      });
      return success ? { success, data } : { success };
    },
  };
}

/** Answers with selected fields. They were checked field by field when they were made. */
const selectedAnswers = new WeakSet<object>();

/** Lets an answer pass an output schema that requires fields which were not selected. */
export function markSelected<Answer extends object>(answer: Answer): Answer {
  selectedAnswers.add(answer);
  return answer;
}

/** The same schema, which lets answers with selected fields pass as they are. */
export function selectable<Schema extends z.ZodType>(schema: Schema): Schema {
  const whole = z.compile(schema);
  return z.withParser(schema, (value) => {
    if (typeof value === 'object' && value !== null && selectedAnswers.has(value)) return value as z.output<Schema>;
    const { success, data } = whole.safeParse(value);
    return success ? data : z.INVALID;
  });
}

/** The selected fields; undefined without `$select`. @throws ListQueryError */
export function selectedIn({ $select }: { $select?: string | undefined }, rowFields: RowFields): ReadonlySet<string> | undefined {
  return $select === undefined ? undefined : bindSelect(parseSelect($select), rowFields);
}
