import type { Schema } from '../reference/document.js';
import type { Operation } from '../reference/reference.js';
import { alternativesOf, flatten, nameOf } from '../reference/schema-text.js';
import { bodyOf, kindOfField, type Definitions, type Kind } from './definitions.js';
import type { Input } from './call.js';

/** How a value is asked for. */
export type Control =
  | { type: 'text' | 'long' | 'password' | 'email' | 'number' | 'date' | 'flag' | 'texts' | 'json' }
  | { type: 'choice' | 'choices'; values: string[] }
  | { type: 'record' | 'records'; kind: Kind }
  | { type: 'file'; upload: Operation }
  | { type: 'object' | 'items'; fields: InputField[] };

/** A value that an operation takes. */
export interface InputField {
  name: string;
  description: string;
  required: boolean;
  /** Whether null is a value of its own: there is none. */
  nullable: boolean;
  control: Control;
}

/** Whether it must be filled in. */
export const isNeeded = ({ required, nullable }: InputField): boolean => required && !nullable;

const LONG = 300;

/** Upload addresses by the part of a record that they are for: `logo` of `organizations.logoUploadUrl`. */
function uploadFor(name: string, operation: Operation, { operations }: Definitions): Operation | undefined {
  const part = name === FILE ? operation.id.replace(/.*\.add/, '') : name.replace(/Image$/, '');
  const word = part.toLowerCase();
  return [...operations.values()].find(
    ({ id, service }) => service === operation.service && /uploadurl$/i.test(id) && id.toLowerCase().includes(word),
  );
}

const isUploaded = ({ properties = {} }: Schema) => Object.keys(properties).sort().join() === 'objectId,type';

function controlOf(name: string, schema: Schema, operation: Operation, definitions: Definitions): Control | undefined {
  const { resolve } = definitions.reference;
  const flat = flatten(schema, resolve);
  const alternative = alternativesOf(flat).find((one) => flatten(one, resolve).type !== 'null');
  if (alternative) return controlOf(name, alternative, operation, definitions);
  const types = [flat.type ?? []].flat().filter((type) => type !== 'null');
  const values = flat.enum?.filter((value) => typeof value === 'string');
  if (values && values.length > 0) return { type: 'choice', values };
  const kind = kindOfField(name, operation, definitions);
  switch (types[0]) {
    case 'boolean':
      return { type: 'flag' };
    case 'integer':
    case 'number':
      return { type: 'number' };
    case 'array': {
      const items = flat.items ? flatten(flat.items, resolve) : {};
      if (kind) return { type: 'records', kind };
      const choices = items.enum?.filter((value) => typeof value === 'string');
      if (choices && choices.length > 0) return { type: 'choices', values: choices };
      if (items.properties) return { type: 'items', fields: fieldsIn(items, operation, definitions) };
      return { type: items.type === 'string' ? 'texts' : 'json' };
    }
    case 'object': {
      if (isUploaded(flat)) {
        const upload = uploadFor(name, operation, definitions);
        return upload && { type: 'file', upload };
      }
      if (!flat.properties || Object.keys(flat.properties).length === 0) return { type: 'json' };
      return { type: 'object', fields: fieldsIn(flat, operation, definitions) };
    }
    case 'string':
      if (flat.format === 'date-time') return { type: 'date' };
      if (flat.format === 'email' || nameOf(schema) === 'Email') return { type: 'email' };
      if (kind && flat.format === 'uuid') return { type: 'record', kind };
      if (/password/i.test(name)) return { type: 'password' };
      return { type: (flat.maxLength ?? 0) > LONG && !/url|name|title/i.test(name) ? 'long' : 'text' };
    default:
      return { type: 'json' };
  }
}

function fieldsIn({ properties = {}, required = [] }: Schema, operation: Operation, definitions: Definitions): InputField[] {
  const { resolve } = definitions.reference;
  return Object.entries(properties).flatMap(([name, schema]) => {
    const control = controlOf(name, schema, operation, definitions);
    if (!control) return [];
    const flat = flatten(schema, resolve);
    return [
      {
        name,
        description: flat.description ?? '',
        required: required.includes(name),
        nullable: [flat.type ?? []].flat().includes('null') || alternativesOf(flat).some((one) => resolve(one).type === 'null'),
        control,
      },
    ];
  });
}

/** Everything that an operation takes beside what is given already: parameters of its path and its query, and its body. */
export function inputFieldsOf(operation: Operation, given: Input, definitions: Definitions): InputField[] {
  const { resolve } = definitions.reference;
  const parameters = operation.parameters.filter(
    (one) => one.in === 'path' || (one.in === 'query' && !/^\$|^(page|limit)$/.test(one.name)),
  );
  const properties = Object.fromEntries(
    parameters.map(({ name, schema = {}, description }) => [
      name,
      { ...flatten(schema, resolve), ...(description && { description }) },
    ]),
  );
  const required = parameters.filter((one) => one.required).map(({ name }) => name);
  const body = bodyOf(operation, definitions.reference);
  const { schema = {}, name: bodyName = FILE } = operation.body ?? {};
  // a body that has no fields of its own is one field
  const whole = isUploaded(body) ? FILE : body.type === 'array' ? bodyName : undefined;
  const all: Schema = {
    properties: { ...properties, ...(whole === undefined ? body.properties : { [whole]: schema }) },
    required: [...required, ...(whole === undefined ? (body.required ?? []) : [whole])],
  };
  return fieldsIn(all, operation, definitions).filter(({ name }) => !Object.hasOwn(given, name));
}

/** The field of a body that is an uploaded file: its parts are the input. */
export const FILE = 'file';
