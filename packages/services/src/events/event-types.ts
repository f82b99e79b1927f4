import { validationError } from '@tandem/core';
import { TRACE_TYPES } from '@tandem/storage';

/**
 * The event types that a text names: `order.*,product.created`.
 * @param kinds the kinds of records of which events tell
 * @param problem the text of the validation for a type that does not exist
 * @throws validationError
 */
export function typesIn(names: readonly string[], kinds: readonly string[], problem: (name: string) => string): string[] {
  const unknown = names.filter((name) => expandType(name, kinds).length === 0);
  if (unknown.length > 0) throw validationError(unknown.map(problem));
  return [...new Set(names.flatMap((name) => expandType(name, kinds)))];
}

/** The event types that one name stands for; none where it names nothing. */
export function expandType(name: string, kinds: readonly string[]): string[] {
  const [kind = '', change = '', ...rest] = name.split('.');
  if (!kinds.includes(kind) || rest.length > 0) return [];
  if (change === '*') return TRACE_TYPES.map((one) => `${kind}.${one}`);
  return TRACE_TYPES.some((one) => one === change) ? [name] : [];
}
