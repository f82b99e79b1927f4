import { bindSelect, parseSelect, type Expansion, type ListResource, type RowFields } from '@tandem/list-query';
import { z } from 'zod';
import { makeAgainBy } from './extension.js';

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

/** Answers with selected fields, and the names of these; without names they were checked field by field when they were made. */
const selectedAnswers = new WeakMap<object, readonly string[] | undefined>();

/** Lets an answer pass an output schema that requires fields which were not selected; of a record, only the named ones pass. */
export function markSelected<Answer extends object>(answer: Answer, names?: readonly string[]): Answer {
  selectedAnswers.set(answer, names);
  return answer;
}

/** The same schema, which lets selected fields pass without the others. */
export function selectable<Schema extends z.ZodType>(schema: Schema): Schema {
  let compiled: Schema | undefined;
  // with the first answer: all lists at once are a tenth of the start
  const whole = () => (compiled ??= z.compile(schema));
  const made = z.withParser(schema, (value) => {
    const isSelected = typeof value === 'object' && value !== null && selectedAnswers.has(value);
    const names = isSelected ? selectedAnswers.get(value) : undefined;
    if (isSelected && !names) return value as z.output<Schema>;
    const { success, data } = (names ? partOf(schema, names) : whole()).safeParse(value);
    return success ? (data as z.output<Schema>) : z.INVALID;
  });
  makeAgainBy(made, (extension) => {
    const extended = extension.schema(schema);
    return extended === schema ? made : selectable(extended);
  });
  return made;
}

/** The selected fields, as `bindSelect` finds them; undefined without `$select`. @throws ListQueryError */
export function selectedIn(
  { $select }: { $select?: string | undefined },
  rowFields: RowFields,
  expansions?: readonly Expansion[],
): ReadonlySet<string> | undefined {
  return $select === undefined ? undefined : bindSelect(parseSelect($select), rowFields, expansions);
}
