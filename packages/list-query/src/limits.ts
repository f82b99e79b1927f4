/** Limits of one list query. Each is checked before the work that it bounds. */
export const LIMITS = {
  /** Characters of one parameter. */
  text: 4096,
  /** Comparisons in one parameter. */
  comparisons: 100,
  /** Calls of `tolower` in one parameter: each is an expression of 12 kB. */
  lowered: 10,
  /** Nesting of parentheses. */
  depth: 32,
  /** Values in one `in (…)`. */
  inValues: 100,
  orderKeys: 5,
  /** Characters and words of `$search`, and the matches that are ranked. */
  search: { least: 2, most: 200, words: 10, ranked: 1000 },
  /** Transformations of `$apply`, those inside groups included. */
  steps: 10,
  groupKeys: 8,
  /** Values computed by one `aggregate`. */
  aggregates: 20,
  /** Records in the `top` of one group. */
  groupTop: 100,
  /** Rows kept by a `top(…)` outside groups. */
  stepTop: 100_000,
  /** Names in `$select`. */
  selections: 100,
  expansions: 5,
  /** Relations of relations: `category.parent` has depth 2. */
  expandDepth: 2,
  /**
   * Related records of an answer, each counted as often as it appears, and the bytes of their JSON: repeated records
   * would make small requests cause large answers (decisions H3).
   */
  expandRecords: 2000,
  expandBytes: 4 * 1024 * 1024,
  /** `$top` with its default, and `$skip` (decisions L2). */
  top: 100,
  defaultTop: 20,
  skip: 50_000,
  /**
   * Rows that a page may skip and still count as quick, and totals that count as quick; larger ones wait at the gate
   * (decisions H1).
   */
  quickSkip: 1000,
  quickCount: 10_000,
  /** Rows whose text is read where no index finds it. */
  scan: 10_000,
  /** `page` and `limit` with their defaults (decisions L1). */
  page: 1000,
  limit: 50,
  defaultPage: 1,
  defaultLimit: 10,
  /** Characters of a `$nextToken`. */
  token: 8192,
} as const;
