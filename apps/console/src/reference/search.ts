import type { Operation, Reference } from './reference.js';

interface Entry {
  operation: Operation;
  /** What names it. */
  name: string;
  /** Everything else: who may call it, parameters, properties of the body. */
  rest: string;
}

/**
 * Makes the search over all operations: each word must occur. Operations that have them all in their name, path or
 * summary come first.
 */
export function createSearch({ services, resolve }: Reference): (query: string) => Operation[] {
  const entries = services.flatMap(({ name: service, operations }) =>
    operations.map((operation): Entry => {
      const { id, method, path, summary, description, who, parameters, body } = operation;
      const properties = Object.keys((body && resolve(body.schema).properties) ?? {});
      const rest = [description, ...who, ...parameters.map(({ name }) => name), ...properties];
      return {
        operation,
        name: [id, method, path, summary, service].join(' ').toLowerCase(),
        rest: rest.join(' ').toLowerCase(),
      };
    }),
  );
  return function search(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const isNamed = ({ name }: Entry) => words.every((word) => name.includes(word));
    const found = entries.filter(({ name, rest }) => words.every((word) => name.includes(word) || rest.includes(word)));
    return [...found.filter(isNamed), ...found.filter((entry) => !isNamed(entry))].map(({ operation }) => operation);
  };
}
