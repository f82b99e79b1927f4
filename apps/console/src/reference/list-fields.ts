import type { Parameter } from './document.js';

/** A field of a list, and what callers may ask of it. */
export interface ListField {
  name: string;
  type: string;
  /** The parameters that accept it. */
  parameters: Set<string>;
}

/** A field in the description of a list parameter: its name and, in `$filter`, its type. */
const FIELD = '`([^`]+)`(?: \\(([^)]+)\\))?';
const RUN = new RegExp(`${FIELD}(?:, ${FIELD})*`);

/** The parameters whose descriptions name fields, and what they do with a field. */
export const FIELD_USES = { $filter: 'Filter', $orderby: 'Sort', $apply: 'Group' } as const;

/** The fields that a list may be asked for, read from the descriptions of its parameters; empty for other operations. */
export function listFieldsOf(parameters: readonly Parameter[]): ListField[] {
  const fields = new Map<string, ListField>();
  for (const { name: parameter, description = '' } of parameters) {
    if (!Object.hasOwn(FIELD_USES, parameter)) continue;
    const [named = ''] = RUN.exec(description) ?? [];
    for (const [, name = '', type = ''] of named.matchAll(new RegExp(FIELD, 'g'))) {
      const field = fields.get(name) ?? { name, type, parameters: new Set() };
      field.parameters.add(parameter);
      fields.set(name, field);
    }
  }
  return [...fields.values()];
}

/** A description whose fields are shown in a table of their own. */
export function withoutFields(description: string): string {
  return description.replace(RUN, 'the fields below');
}
