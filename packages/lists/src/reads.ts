import {
  ListQueryError,
  bindExpand,
  parseExpand,
  parseSelect,
  type Expansion,
  type ListResource,
  type RowFields,
} from '@tandem/list-query';
import { z } from 'zod';
import { SELECT, describeExpand } from './description.js';
import { expandableOf, type Expandable } from './expandable.js';
import { makeAgainBy } from './extension.js';
import { asksMore, withoutPlace } from './query.js';
import { withRelations, type Relations } from './related.js';
import { markSelected, selectable, selectedIn } from './selection.js';

/** What a read of one record may ask. */
export interface ReadQuery {
  $select?: string | undefined;
  $expand?: string | undefined;
}

/** Names of relations, the first of which is checked where it is written. */
type Names<Name extends string> = Name | `${Name},${string}`;

/** The parameters of a read of one record. */
export type ReadShape<Related extends Relations> = { $select: z.ZodOptional<z.ZodString> } & ExpandShape<Related>;
/** Its parameter `$expand`, where there are relations. */
export type ExpandShape<Related extends Relations> = keyof Related extends never
  ? unknown
  : { $expand: z.ZodOptional<z.ZodType<Names<keyof Related & string>, Names<keyof Related & string>>> };

const NO_FIELDS = { name: '', fields: new Map() } as unknown as ListResource;

/** What `$expand` asks of these relations. @throws ListQueryError */
export function expansionsIn({ $expand }: ReadQuery, relations: Relations): Expansion[] {
  return $expand === undefined ? [] : bindExpand(parseExpand($expand), withRelations(NO_FIELDS, relations));
}

/** Checks the parameters. The problems are reported together with those of the schema. */
function checkRead(fields: RowFields, relations: Relations) {
  return (query: object, check: z.RefinementCtx): void => {
    const { $select, $expand } = query as ReadQuery;
    const attempt = (name: keyof ReadQuery, given: unknown, read: () => unknown) => {
      if (typeof given !== 'string') return;
      try {
        read();
      } catch (error) {
        if (!(error instanceof ListQueryError)) throw error;
        check.addIssue({ code: 'custom', path: [name], message: withoutPlace(error.message, name) });
      }
    };
    attempt('$select', $select, () => selectedIn({ $select }, fields));
    attempt('$expand', $expand, () => expansionsIn({ $expand }, relations));
  };
}

/**
 * The parts of a read that answers one record: its input, its output, and what is shown of the whole record.
 * @param relations those of its list
 */
export function defineRead<Id extends z.ZodRawShape, Row extends z.ZodObject, Related extends Relations>(
  idInput: z.ZodObject<Id, z.core.$strict>,
  row: Row,
  relations: Related,
) {
  const fields: RowFields = new Map(Object.keys(row.shape).map((name) => [name, []]));
  const $expand = Object.keys(relations).length > 0 && describeExpand(withRelations(NO_FIELDS, relations)).optional();
  const input = idInput
    .extend({ $select: SELECT.optional(), ...($expand && { $expand }) })
    .superRefine(checkRead(fields, relations), { when: ({ value }) => asksMore(value) });
  makeAgainBy(input, ({ schema }): object => (schema(row) === row ? input : defineRead(idInput, schema(row), relations).input));
  const { schema } = expandableOf(row, relations);
  return {
    input: input as unknown as z.ZodObject<Id & ReadShape<Related>, z.core.$strict>,
    output: selectable(schema) as unknown as z.ZodType<Expandable<Row, Related>>,
    /** The selected fields and the related records of an answer. */
    select<Answer extends object>(answer: Answer, query: ReadQuery): Answer {
      if (query.$select === undefined) return answer;
      const names = [query.$select, query.$expand ?? []].flat().flatMap((text) => parseSelect(text));
      // of `items.product`, `items`: a path is never selected
      return markSelected(answer, ['id', ...names.map(({ path }) => path.split('.', 1)[0] as string)]);
    },
  };
}
