import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { AggregateItem, Condition, Literal, OrderKey, PathReference, Step, Subject } from '../src/index.js';

/** Names allowed in texts, keywords of the grammar included. */
const words = ['price', 'brand.name', 'tags', 'a_1', '_x', 'not', 'and', 'or', 'in', 'eq', 'top', 'then', 'asc', 'desc', 'filter', 'null', 'with', 'as', 'contains', 'tolower']; // prettier-ignore
const name = fc.constantFrom(...words);
const reference: Arbitrary<PathReference> = fc.record({ path: name });

const number = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((value) => !Object.is(value, -0));
const day = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const text = fc.oneof(
  fc.string({ maxLength: 20, unit: 'binary' }),
  fc.constantFrom("it's", "''", '$where', 'a) or (b', '{"$ne":1}'),
);

export const literal: Arbitrary<Literal> = fc.oneof(
  text.map((value) => ({ kind: 'string', value }) as const),
  number.map((value) => ({ kind: 'number', value }) as const),
  fc.boolean().map((value) => ({ kind: 'boolean', value }) as const),
  fc.constant({ kind: 'null' } as const),
  day.map((value) => ({ kind: 'date', value }) as const),
  day.map((value) => ({ kind: 'date', value: value.slice(0, 10) }) as const),
);

const subject: Arbitrary<Subject> = fc.oneof(
  fc.record({ path: name }),
  fc.record({ path: name, lower: fc.constant(true as const) }),
);
/** The functions of text. */
export const called = fc.constantFrom('contains', 'startswith', 'endswith');
const operator = fc.constantFrom('eq', 'ne', 'gt', 'ge', 'lt', 'le');

/** Conditions over these comparisons, some levels deep. */
export function conditionsOver(leaf: Arbitrary<Condition>): Arbitrary<Condition> {
  return fc.letrec<{ tree: Condition }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'condition' },
      leaf,
      fc.record({
        kind: fc.constantFrom('and', 'or'),
        terms: fc.array(tie('tree'), { minLength: 2, maxLength: 3, depthIdentifier: 'condition' }),
      }),
      fc.record({ kind: fc.constant('not'), term: tie('tree') }),
    ),
  })).tree;
}

const about = <Rest extends object>(rest: Arbitrary<Rest>) => fc.tuple(subject, rest).map(([of, one]) => ({ ...of, ...one }));

export const condition: Arbitrary<Condition> = conditionsOver(
  fc.oneof(
    about(fc.record({ kind: fc.constant('compare'), operator, value: literal })),
    about(fc.record({ kind: fc.constant('in'), values: fc.array(literal, { minLength: 1, maxLength: 3 }) })),
    about(fc.record({ kind: fc.constant('text'), called, text })),
  ),
);

export const order: Arbitrary<OrderKey[]> = fc.array(fc.record({ path: name, direction: fc.constantFrom('asc', 'desc') }), {
  minLength: 1,
  maxLength: 5,
});

export const expand: Arbitrary<PathReference[]> = fc.array(reference, { minLength: 1, maxLength: 5 });

const alias = fc.constantFrom('n', 'total', 'as', 'with', 'top', '_a1');
const item: Arbitrary<AggregateItem> = fc.oneof(
  fc.record({ kind: fc.constant('count'), alias }),
  fc.record({
    kind: fc.constant('value'),
    path: name,
    with: fc.constantFrom('sum', 'average', 'min', 'max', 'countdistinct'),
    alias,
  }),
);

/** Chains that parse, though few of them are valid. */
export const steps: Arbitrary<Step[]> = fc
  .letrec<{ chain: Step[]; step: Step }>((tie) => ({
    chain: fc.array(tie('step'), { minLength: 1, maxLength: 3 }),
    step: fc.oneof(
      { maxDepth: 2 },
      fc.record({ kind: fc.constant('filter'), condition }),
      fc.record({ kind: fc.constant('orderby'), keys: order }),
      fc.record({ kind: fc.constant('top'), count: fc.nat(1000) }),
      fc.record({ kind: fc.constant('aggregate'), items: fc.array(item, { minLength: 1, maxLength: 3 }) }),
      fc.record({
        kind: fc.constant('groupby'),
        keys: fc.array(reference, { minLength: 1, maxLength: 3 }),
        steps: fc.oneof(fc.constant<Step[]>([]), tie('chain')),
      }),
    ),
  }))
  .chain.filter((chain) => countSteps(chain) <= 10);

function countSteps(chain: readonly Step[]): number {
  return chain.reduce((sum, step) => sum + 1 + (step.kind === 'groupby' ? countSteps(step.steps) : 0), 0);
}

/** A tree without the offsets of its text. */
export function withoutOffsets<Tree>(tree: Tree): Tree {
  return JSON.parse(JSON.stringify(tree, (key, value: unknown) => (key === 'at' ? undefined : value))) as Tree;
}
