export { createCountCache, type CountCache, type CountCacheSettings } from './count-cache.js';
export type { CursorSecret } from './cursor.js';
export { ListQueryError, ListTimeLimitError, NextTokenError, type ListQueryProblem } from './errors.js';
export {
  bindExpand,
  expandsTooMuch,
  type Expansion,
  type RelatedReader,
  type RelatedSource,
  type RelatedSources,
} from './expand.js';
export type { Field, FieldSettings, FieldType, ScalarType } from './fields.js';
export type { StoreFilter } from './filter.js';
export { createGate, type Caller, type Gate, type GateSettings } from './gate.js';
export { LIMITS } from './limits.js';
export { answerList, answerListRequest, bindListRequest, type ListPage, type ListRequest } from './page.js';
export { readParameters, type ListParameters, type ParameterPairs } from './parameters.js';
export { parseApply } from './parse-apply.js';
export { parseFilter } from './parse-condition.js';
export { parseExpand } from './parse-expand.js';
export { parseOrder } from './parse-order.js';
export { planList, type PlanSettings, type RecordPlan, type TransformationPlan } from './plan.js';
export { printApply, printExpand, printFilter, printOrder, printSelect } from './print.js';
export {
  defineListResource,
  extendListResource,
  type ListResource,
  type ListResourceSettings,
  type RelationSettings,
  type Searched,
} from './resource.js';
export type { Found, Search } from './search.js';
export { expandOne, runListQuery, type ListQueryOptions, type ListResult } from './run.js';
export { bindSelect, leadingTo, parseSelect, selectedOnly, type RowFields } from './select.js';
export { showRecord, type Show, type StoredDocument } from './show.js';
export { limitStore, type ListCollection } from './store.js';
export type { AggregateItem, Condition, Literal, OrderKey, PathReference, Step, Subject, TextFunction } from './tree.js';
