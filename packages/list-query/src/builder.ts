// For front ends: nothing here or in its imports depends on Node or the store.
export { and, field, not, or, type FieldConditions, type TextConditions, type Where } from './builder-conditions.js';
export type { FieldsOf } from './builder-fields.js';
export { listQuery, type ListQueryBuilder, type ListShape, type QueryParameters, type RowOf } from './builder-query.js';
export {
  aggregate,
  average,
  count,
  countDistinct,
  filter,
  groupBy,
  max,
  min,
  orderBy,
  sum,
  top,
  type Aggregate,
  type BuiltStep,
} from './builder-steps.js';
