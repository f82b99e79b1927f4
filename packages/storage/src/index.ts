export { bulkFields, defineBulkWrites, type BulkChange, type BulkRecord } from './bulk-writes.js';
export { DELETION_FIELDS, deletionFields, type Cascades, type Deletable } from './cascades.js';
export { leaseFor, systemClock, takeLease, timeInStore, type Clock } from './clock.js';
export { defineDeletion } from './deletions.js';
export { MAJORITY, isDuplicateKey, isStoreUnavailable, notOnMajority } from './failures.js';
export { idsFrom, namedId, newId } from './ids.js';
export { textIn, type IndexCreation, type IndexName, type IndexReport } from './indexes.js';
export { insertBelow } from './insert-below.js';
export type { JointWrite } from './joint-writes.js';
export { QUEUE_LEASE_MS, createLeasedQueue, queuedFields, type QueuedRecord } from './leased-queue.js';
export type { Log } from './log.js';
export {
  defineModel,
  type BaseRecord,
  type IndexDefinition,
  type Live,
  type Model,
  type ModelDefinition,
  type ModelSettings,
} from './model.js';
export { NOBODY, type NamedPerson, type Naming } from './people.js';
export type { Erased } from './people-erasure.js';
export type { ExportedRecords } from './people-export.js';
export { PURGING } from './purges.js';
export type { PeopleData } from './people-data.js';
export type { OperationListener } from './operations.js';
export type { PoolState } from './pool.js';
export { HOST_FIELDS, present, versionOf, type Presented, type Wire } from './present.js';
export { SEARCH, containing, searchPath, searching, withSearch } from './search.js';
export type { Deleted } from './soft-deletion.js';
export { BESIDE, type EventPage, type EventQuery, type LoggedEvent } from './event-log.js';
export type { ToldEvent } from './before-cleared.js';
export {
  NO_EVENTS,
  TRACE,
  TRACE_TYPES,
  VersionError,
  actingAs,
  asSystem,
  expectedOf,
  expecting,
  hasMade,
  noteMade,
  ofVersions,
  traceContext,
  traceOfNew,
  type ExpectedVersions,
  type TraceActor,
  type TraceType,
  type Traced,
} from './traces.js';
export { createQueueWorker } from './queue-worker.js';
export { StoreSetupError, addressProblems } from './store-address.js';
export { openStorage, type Storage, type StorageOptions } from './storage.js';
export { ImportError, type TransferProgress } from './transfer.js';
export type { Fence, Unit, UnitSettings, UnitStep } from './units.js';
