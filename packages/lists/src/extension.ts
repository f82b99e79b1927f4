import type { ListResource } from '@tandem/list-query';
import type { z } from 'zod';

/** What a host's fields are added to; all else stays as it is. */
export interface Extension {
  resource(given: ListResource): ListResource;
  schema<Schema extends z.ZodType>(given: Schema): Schema;
  list<List extends object>(given: List): List;
}

/** A host that declares none. */
export const NO_EXTENSION: Extension = { resource: (one) => one, schema: (one) => one, list: (one) => one };

/** How lists and schemas that hold fields are made again; not part of them, since the compiler writes out the types of all lists. */
const makers = new WeakMap<object, (extension: Extension) => object>();

/** Says how something that holds fields, in ways that its schemas do not show, is made again with more of them. */
export function makeAgainBy(made: object, make: (extension: Extension) => object): void {
  makers.set(made, make);
}

/** The same with the fields of an extension; undefined for what its schemas show whole. */
export function madeAgain<Made extends object>(made: Made, extension: Extension): Made | undefined {
  return makers.get(made)?.(extension) as Made | undefined;
}
