import type { BoundCondition } from './bind.js';
import type { StoreFilter } from './filter.js';
import type { TextFunction } from './tree.js';

/** The filter by which an index narrows a condition on text; undefined where none does. */
export function narrowing(condition: BoundCondition): StoreFilter | undefined {
  if (condition.kind === 'text' && !condition.isNegated)
    return condition.field.containing?.(condition.text, condition.called === 'startswith' ? 'at the start' : 'anywhere');
  if (condition.kind !== 'compare' || condition.operator !== 'eq' || !condition.field.lower) return undefined;
  return typeof condition.value === 'string' ? condition.field.containing?.(condition.value, 'whole') : undefined;
}

/** The regular expression of a function: the caller's text stands in it literally. */
export function patternOf(called: TextFunction, text: string): string {
  // the store refuses a null character in a pattern
  const literal = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00');
  if (called === 'startswith') return `^${literal}`;
  // `$` would match before a final line break too
  return called === 'endswith' ? `${literal}\\z` : literal;
}

/** A stored value, but null for what is not text: the store's text operators fail on other types. */
export function textOrNull(value: unknown): unknown {
  return { $cond: [{ $eq: [{ $type: value }, 'string'] }, value, null] };
}

let pairs: { upper: string; lower: string } | undefined;

/** The capitals beyond ASCII and, at the same places, their lower case: one character each. */
function capitals(): { upper: string; lower: string } {
  if (pairs) return pairs;
  pairs = { upper: '', lower: '' };
  for (let code = 0x80; code <= 0x1_ffff; code += 1) {
    const upper = String.fromCodePoint(code);
    const [lower = upper] = upper.toLowerCase();
    if (lower !== upper) pairs = { upper: pairs.upper + upper, lower: pairs.lower + lower };
  }
  return pairs;
}

/**
 * The lower case of a stored text, character by character; null for what is not text. The store's own operator knows
 * ASCII alone, so other capitals are replaced first, each distinct one once.
 */
export function lowerCase(value: unknown): unknown {
  const { upper, lower } = capitals();
  const found = { $regexFindAll: { input: value, regex: `[${upper}]` } };
  const lowered = {
    $reduce: {
      input: { $setUnion: [{ $map: { input: found, in: '$$this.match' } }] },
      initialValue: { $toLower: value },
      in: {
        $replaceAll: {
          input: '$$value',
          find: '$$this',
          replacement: { $substrCP: [lower, { $indexOfCP: [upper, '$$this'] }, 1] },
        },
      },
    },
  };
  return { $cond: [{ $eq: [{ $type: value }, 'string'] }, lowered, null] };
}
