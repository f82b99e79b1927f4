import { SET_OWNER_NAMES } from './organization.model.js';

/** The address after a change: its lines merged, without those that are null (decisions R3). */
function mergedAddress(given: object) {
  const merged = { $objectToArray: { $mergeObjects: ['$address', { $literal: given }] } };
  return { $arrayToObject: { $filter: { input: merged, as: 'line', cond: { $ne: ['$$line.v', null] } } } };
}

/**
 * The one update that changes what is given, the keys of its name too; undefined values are not given. In a pipeline values would else be
 * read as expressions.
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
