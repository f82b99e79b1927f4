export { askedBy, callOf, callerOf, signalOf, type ListCall } from './asked-by.js';
export { defineList, resourceOfInput, type ListAnswer } from './declaration.js';
export { NO_EXTENSION, madeAgain, type Extension } from './extension.js';
export type { Expandable } from './expandable.js';
export { createFitting, etag, etagOf, versioned, type Fitting } from './fitting.js';
export { indexesLike, isOnePage, listIndexes, promisesOf, type ListIndexSettings } from './indexes.js';
export { listErrors } from './lists.errors.js';
export { createLists, toListFailure, type DeclaredList, type ListRows, type Lists, type ListSource } from './lists.js';
export { PaginationMetadata, pageOf, pageParameters } from './pages.js';
export type { ListQuery } from './query.js';
export { defineRead, type ExpandShape, type ReadQuery, type ReadShape } from './reads.js';
export {
  relatedKind,
  relatedMany,
  relatedOne,
  type DeclaredRelation,
  type RelatedKind,
  type RelatedOrigin,
  type RelatedRows,
  type Relations,
} from './related.js';
export { storedSearch, type FoundRecords, type SearchDriver } from './search.js';
export type { ToldSource } from './told.js';
export { selectable } from './selection.js';
export { behindChoice, viewOf, type Stage } from './view.js';
