import { ListQueryError, bindSelect, parseSelect, type ListResource, type RowFields } from '@tandem/list-query';
import { z } from 'zod';
import { SELECT } from './description.js';
import { withoutPlace } from './query.js';

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

/** What a read of a single record may ask. */
export interface ReadQuery {
  $select?: string | undefined;
}

/** The selected fields; undefined without `$select`. @throws ListQueryError */
export function selectedIn({ $select }: ReadQuery, rowFields: RowFields): ReadonlySet<string> | undefined {
  return $select === undefined ? undefined : bindSelect(parseSelect($select), rowFields);
}

/** The parameter `$select` of a read that answers one record. */
export function selectParameter({ shape }: z.ZodObject) {
  const fields: RowFields = new Map(Object.keys(shape).map((name) => [name, []]));
  const checked = SELECT.superRefine(($select, check) => {
    try {
      selectedIn({ $select }, fields);
    } catch (error) {
      if (!(error instanceof ListQueryError)) throw error;
      check.addIssue({ code: 'custom', message: withoutPlace(error.message, '$select') });
    }
  });
  return checked.optional();
}

/** The selected fields of an answer. */
export function selectFrom<Answer extends object>(output: z.ZodType<Answer>, answer: Answer, { $select }: ReadQuery): Answer {
  if ($select === undefined) return answer;
  const names = parseSelect($select).map(({ path }) => path);
  return markSelected(partOf(output, ['id', ...names]).parse(answer));
}
