import { compileAggregates } from './aggregates.js';
import { compileFilter } from './filter.js';
import { problemAt } from './errors.js';
import { applyGroupby } from './group.js';
import { BY_ID, bindOrder } from './order.js';
import type { ListResource } from './resource.js';
import { bindHere, pageStages, sortStages, type Transformation } from './transformation.js';
import type { Step } from './tree.js';

/** A resource's records before any transformation. */
export function untransformed(resource: ListResource, parameter = '$apply'): Transformation {
  return {
    parameter,
    stages: [],
    fields: resource.fields,
    shape: { kind: 'records' },
    order: resource.defaultOrder,
    unique: BY_ID,
    isOrdered: false,
    isSorted: false,
    isScan: false,
    hidden: resource.hidden,
  };
}

/**
 * Checks the transformations of `$apply` against the fields visible at each of them, and compiles them.
 * @throws ListQueryError
 */
export function compileApply(steps: readonly Step[], resource: ListResource): Transformation {
  const state = untransformed(resource);
  for (const step of steps) {
    if (state.ofNothing) keepOneRow(state, state.ofNothing);
    applyStep(state, step);
  }
  return state;
}

function applyStep(state: Transformation, step: Step): void {
  const { parameter, fields, stages } = state;
  switch (step.kind) {
    case 'filter':
      stages.push({ $match: compileFilter(bindHere(state, step.condition)) });
      return;
    case 'orderby':
      // each sort may sort all records
      if (state.isOrdered)
        throw problemAt(parameter, step.at ?? 0, "has a second 'orderby' without a 'groupby' or 'aggregate' between them");
      state.isOrdered = true;
      state.order = bindOrder(step.keys, fields, parameter);
      state.isSorted = false;
      return;
    case 'top':
      stages.push(...sortStages(state), ...pageStages(0, step.count));
      state.isSorted = true;
      return;
    case 'aggregate':
      applyAggregate(state, step);
      return;
    case 'groupby':
      applyGroupby(state, step);
  }
}

function applyAggregate(state: Transformation, step: Step & { kind: 'aggregate' }): void {
  const { parameter, fields } = state;
  const { accumulators, outputs, fields: computed, ofNothing } = compileAggregates(step.items, { fields, among: [], parameter });
  state.stages.push({ $group: { _id: null, ...accumulators } }, { $project: { _id: 0, ...outputs } });
  Object.assign(state, {
    fields: new Map(computed.map((field) => [field.name, field])),
    shape: { kind: 'rows' },
    order: [],
    unique: [],
    isOrdered: false,
    isSorted: true,
    ofNothing,
  } satisfies Partial<Transformation>);
}

/**
 * `aggregate` returns one row even for no documents, where the store returns none. At the end of a chain the row is
 * added outside the store.
 */
function keepOneRow(state: Transformation, ofNothing: Record<string, 0 | null>): void {
  const [group, project] = state.stages.splice(-2);
  const row = { $ifNull: [{ $first: '$row' }, { $literal: ofNothing }] };
  state.stages.push({ $facet: { row: [group, project] } }, { $replaceRoot: { newRoot: row } });
  state.ofNothing = undefined;
}
