/** What one list query may ask for. Each limit holds before the work that it bounds begins. */
export const LIMITS = {
  /** Characters of one parameter. */
  text: 4096,
  /** Comparisons in one parameter. */
  comparisons: 100,
  /** Parentheses inside each other. */
  depth: 32,
  /** Values of one `in (…)`. */
  inValues: 100,
  orderKeys: 5,
  /** Transformations of `$apply`, those inside groups included. */
  steps: 10,
  groupKeys: 8,
  /** Values that one `aggregate` computes. */
  aggregates: 20,
  /** Records in the `top` of one group. */
  groupTop: 100,
  /** Rows that a `top(…)` keeps outside of groups. */
  stepTop: 100_000,
  expansions: 5,
  /** Relations of relations: `category.parent` has depth 2. */
  expandDepth: 2,
  /** Related records in one answer, each counted as often as it stands there, and the bytes of their JSON, in answers that are sent together (decisions H3). */
  expandRecords: 2000,
  expandBytes: 4 * 1024 * 1024,
  /** `$top` and what it is without being given, `$skip` (decisions L2). */
  top: 100,
  defaultTop: 20,
  skip: 50_000,
  /** Rows that a page passes over and is one page yet, and rows that are counted in no time (decisions H1). */
  quickSkip: 1000,
  quickCount: 10_000,
  /** `page`, `limit` and what they are without being given (decisions L1). */
  page: 1000,
  limit: 50,
  defaultPage: 1,
  defaultLimit: 10,
  /** Characters of a `$nextToken`. */
  token: 8192,
} as const;
