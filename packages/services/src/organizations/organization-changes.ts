import { SET_OWNER_NAMES } from './organization.model.js';

/** The merged address without its null lines (decisions R3). */
function mergedAddress(given: object) {
  const merged = { $objectToArray: { $mergeObjects: ['$address', { $literal: given }] } };
  return { $arrayToObject: { $filter: { input: merged, as: 'line', cond: { $ne: ['$$line.v', null] } } } };
}

/**
 * The update pipeline for the given changes, with `ownerNames` when the name changes. Skips undefined values and wraps the
 * others, which a pipeline would read as expressions.
 */
export function changeStages(changes: object): object[] {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined) as [string, unknown][];
  if (given.length === 0) return [];
  const set = given.map(([field, value]) => {
    const isAddress = field === 'address' && typeof value === 'object' && value !== null;
    return [field, isAddress ? mergedAddress(value) : { $literal: value }];
  });
  return [{ $set: Object.fromEntries(set) as object }, ...('name' in Object.fromEntries(given) ? [SET_OWNER_NAMES] : [])];
}
