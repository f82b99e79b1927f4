import type { BoundCondition } from './bind.js';
import { problemOf } from './errors.js';
import { allOf, compileFilter, type StoreFilter } from './filter.js';
import { LIMITS } from './limits.js';
import type { LimitedStore } from './store.js';
import { narrowing } from './text.js';

/** Text that no index finds, so that each of the rows is read (decisions N3). */
export interface TextScan {
  parameter: string;
  /** The rows. */
  among: StoreFilter;
}

/** Whether a condition is about parts of a text. */
export function isAboutText(condition: BoundCondition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.terms.some(isAboutText);
    case 'not':
      return isAboutText(condition.term);
    default:
      return condition.kind === 'text' || condition.field.lower === true;
  }
}

/** Whether an index narrows the rows of a condition. */
function isNarrowed(condition: BoundCondition): boolean {
  if (condition.kind === 'and') return condition.terms.some(isNarrowed);
  if (condition.kind === 'or') return condition.terms.every(isNarrowed);
  return narrowing(condition) !== undefined;
}

/** What else the rows must match, where a condition scans text; undefined where it does not. */
export function scannedBy(condition: BoundCondition): StoreFilter | undefined {
  const terms = condition.kind === 'and' ? condition.terms : [condition];
  if (!terms.some(isAboutText) || terms.some(isNarrowed)) return undefined;
  return allOf(...terms.filter((term) => !isAboutText(term)).map(compileFilter));
}

/** @throws ListQueryError for more rows than a query may scan */
export async function refuseLongScan({ parameter, among }: TextScan, store: LimitedStore): Promise<void> {
  const stages = [{ $match: among }, { $limit: LIMITS.scan + 1 }, { $count: 'total' }];
  const [counted] = (await store.aggregate(stages)) as { total?: number }[];
  if ((counted?.total ?? 0) > LIMITS.scan)
    throw problemOf(parameter, `looks for text without an index in more than ${LIMITS.scan} rows`);
}
