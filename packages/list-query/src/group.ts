import { compileAggregates, type CompiledAggregates } from './aggregates.js';
import { bindField, type BoundCondition } from './bind.js';
import { problemAt, shorten } from './errors.js';
import { compileExpression, type Expression } from './expression.js';
import { clash, computedField, valueOf, type Field } from './fields.js';
import { compileFilter } from './filter.js';
import { bindOrder, compileOrder, completeOrder, type SortKey } from './order.js';
import { LIMITS } from './limits.js';
import { bindHere, without, type Stage, type Transformation } from './transformation.js';
import type { Condition, PathReference, Step } from './tree.js';

type Groupby = Step & { kind: 'groupby' };

/** The parts of the chain inside a group. */
interface Inside {
  aggregates: CompiledAggregates | undefined;
  /** The records that each group keeps in `top`. */
  top: { count: number; order: readonly SortKey[] } | undefined;
  /** What the documents that both are made of pass; undefined for all. */
  only: Expression;
  /** Conditions on the group's row. */
  having: Condition[];
}

/** Temporary field that marks the documents that pass a filter inside the group. */
const MARK = '__counts';

/** One row per distinct combination of the keys; null and missing are the same value (decisions L4). */
export function applyGroupby(state: Transformation, step: Groupby): void {
  const { keys: references, steps } = flatten(state, step);
  const keys = bindKeys(references, state);
  const inside = compileInside(steps, keys, state);
  const { aggregates, top, only, having } = inside;
  const hidden = state.shape.kind === 'records' ? state.hidden : [];

  state.stages.push(
    // once, however many values it is for
    ...(only === undefined ? [] : [{ $set: { [MARK]: only } }]),
    { $group: { _id: keyExpression(keys), ...aggregates?.accumulators, ...topAccumulator(inside) } },
    { $project: { _id: 0, ...keyOutputs(keys), ...aggregates?.outputs, ...topOutput(inside) } },
    // Removed after grouping, when the records are few: before, it would cost time for each of them.
    ...(top && hidden.length > 0 ? [{ $project: without(hidden.map((path) => `top.${path}`)) }] : []),
  );
  const fields = [...keys.map(({ name, type }) => computedField(name, type)), ...(aggregates?.fields ?? [])];
  Object.assign(state, {
    fields: new Map(fields.map((field) => [field.name, field])),
    shape: { kind: 'rows', ...(top && { top: state.shape }) },
    order: [],
    isOrdered: false,
    unique: keys.map(({ name, type }) => ({ field: { name, path: name, type }, direction: 1 })),
    isSorted: false,
  } satisfies Partial<Transformation>);
  for (const condition of having) state.stages.push({ $match: compileFilter(bindHere(state, condition)) });
}

/**
 * Flattens nested groups into one grouping by all keys; records filtered out before the inner groupby form no groups.
 */
function flatten(state: Transformation, { keys, steps }: Groupby): { keys: PathReference[]; steps: Step[] } {
  const at = steps.findIndex(({ kind }) => kind === 'groupby');
  const inner = steps[at];
  if (inner?.kind !== 'groupby') return { keys, steps };
  const before = steps.slice(0, at);
  const behind = steps[at + 1];
  if (behind) throw problemAt(state.parameter, behind.at ?? 0, "has a transformation behind a 'groupby' inside a group");
  for (const step of before) {
    if (step.kind !== 'filter')
      throw problemAt(state.parameter, step.at ?? 0, "can only have 'filter' before a 'groupby' inside a group");
    state.stages.push({ $match: compileFilter(bindHere(state, step.condition)) });
  }
  return flatten(state, { ...inner, keys: [...keys, ...inner.keys] });
}

function bindKeys(references: readonly PathReference[], { fields, parameter }: Transformation): Field[] {
  const keys: Field[] = [];
  for (const reference of references) {
    const field = bindField(reference, fields, 'group', parameter);
    const at = reference.at ?? 0;
    if (keys.some(({ name }) => clash(name, field.name)))
      throw problemAt(parameter, at, `groups by '${shorten(field.name)}' twice`);
    if (keys.length === LIMITS.groupKeys) throw problemAt(parameter, at, `has more than ${LIMITS.groupKeys} group properties`);
    keys.push(field);
  }
  return keys;
}

/**
 * Reads the chain inside a group: filters for the following steps, an `aggregate`, conditions on it, an order, a `top`.
 */
function compileInside(steps: readonly Step[], keys: readonly Field[], state: Transformation): Inside {
  const { parameter, fields } = state;
  const names = keys.map(({ name }) => name);
  const inside: Inside = { aggregates: undefined, top: undefined, only: undefined, having: [] };
  const conditions: BoundCondition[] = [];
  let order: { keys: readonly SortKey[]; at: number } | undefined;
  for (const step of steps) {
    const at = step.at ?? 0;
    if (inside.top) throw problemAt(parameter, at, "has a transformation behind the 'top' of a group");
    if (step.kind === 'filter') {
      if (inside.aggregates) inside.having.push(step.condition);
      else conditions.push(bindHere(state, step.condition));
    } else if (step.kind === 'aggregate') {
      if (inside.aggregates) throw problemAt(parameter, at, "has a second 'aggregate' in a group");
      const only = conditions.length === 0 ? undefined : `$${MARK}`;
      inside.aggregates = compileAggregates(step.items, { fields, among: names, only, parameter });
    } else if (step.kind === 'orderby') {
      if (order) throw problemAt(parameter, at, "has a second 'orderby' in a group");
      order = { keys: bindOrder(step.keys, fields, parameter), at };
    } else if (step.kind === 'top') {
      if (step.count > LIMITS.groupTop) throw problemAt(parameter, at, `can keep at most ${LIMITS.groupTop} records of a group`);
      const taken = [...names, ...(inside.aggregates?.fields ?? []).map(({ name }) => name)];
      if (taken.some((name) => clash(name, 'top'))) throw problemAt(parameter, at, "has the name 'top' twice");
      inside.top = { count: step.count, order: completeOrder(order?.keys ?? state.order, state.unique) };
    }
  }
  if (order && !inside.top) throw problemAt(parameter, order.at, "needs a 'top' behind the 'orderby' of a group");
  if (conditions.length > 0 && !inside.aggregates && !inside.top)
    throw problemAt(parameter, steps[0]?.at ?? 0, "needs an 'aggregate' or a 'top' behind the 'filter' of a group");
  if (conditions.length > 0) inside.only = { $and: conditions.map(compileExpression) };
  return inside;
}

/** A single key already groups missing with null, and can use an index. */
function keyExpression(keys: readonly Field[]): Expression {
  const [first, ...others] = keys;
  if (first && others.length === 0) return valueOf(first);
  return Object.fromEntries(keys.map(({ path, absent = null }, n) => [`k${n}`, { $ifNull: [`$${path}`, absent] }]));
}

/** The keys in the row; dotted paths become nested objects. */
function keyOutputs(keys: readonly Field[]): Record<string, Expression> {
  return Object.fromEntries(keys.map(({ name }, n) => [name, keys.length === 1 ? '$_id' : `$_id.k${n}`]));
}

function topAccumulator({ top, only }: Inside): Stage {
  if (!top || top.count === 0) return {};
  const order = compileOrder(top.order);
  if (only === undefined) return { top: { $topN: { n: top.count, sortBy: order, output: '$$ROOT' } } };
  const unmarked = { $unsetField: { field: MARK, input: '$$ROOT' } };
  return { top: { $topN: { n: top.count, sortBy: { [MARK]: -1, ...order }, output: { $cond: [`$${MARK}`, unmarked, null] } } } };
}

function topOutput({ top, only }: Inside): Stage {
  if (!top) return {};
  if (top.count === 0) return { top: { $literal: [] } };
  return { top: only === undefined ? '$top' : { $filter: { input: '$top', cond: { $ne: ['$$this', null] } } } };
}
