import { createContext, use } from 'react';
import type { Schema } from '../reference/document.js';
import { listFieldsOf, type ListField } from '../reference/list-fields.js';
import type { Operation, Reference } from '../reference/reference.js';
import { alternativesOf, flatten, nameOf, valuesOf } from '../reference/schema-text.js';

/** A field that a list may be asked for. */
export interface QueriedField extends ListField {
  /** The values that it may have; empty where it has any. */
  values: string[];
}

/** A list of records, as the server's own document describes it. */
export interface RecordList {
  operation: Operation;
  /** The parameters in its path. */
  params: string[];
  /** Parameters by which it can be narrowed: names of fields. */
  narrowing: string[];
  fields: QueriedField[];
  /** What a row has. */
  row: Schema;
  /** The name of its records' schema, as reads of one have it. */
  schema: string | undefined;
  /** Relations that a row can show; a dot names those of its parts. */
  relations: string[];
  /** Whether it takes `$search`. */
  isSearched: boolean;
  /** Whether it is a list of list queries; others answer with all they have, or by pages of their own. */
  isQueried: boolean;
}

/** Records of one kind, and everything that can be done with them. */
export interface Kind {
  /** The first part of its addresses: `products`. */
  name: string;
  /** The parameter that names one of them: `productId`. */
  param: string;
  /** The parameters that its reads need beside that. */
  parents: string[];
  schema: string | undefined;
  get: Operation;
  list: RecordList | undefined;
  create: Operation | undefined;
  patch: Operation | undefined;
  remove: Operation | undefined;
  restore: Operation | undefined;
  /** What else can be done with one of them. */
  actions: Operation[];
  /** What can be done with several of them at once. */
  bulk: Operation[];
}

export interface Definitions {
  reference: Reference;
  operations: Map<string, Operation>;
  kinds: Kind[];
  lists: RecordList[];
  /** The kind of record that a parameter or field names: `organizationId`. */
  kindOf(param: string): Kind | undefined;
}

/** The parameters in a path. */
export const paramsOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** The schema of what an operation answers with. */
export function answerOf({ answers }: Operation): Schema | undefined {
  return answers.find(({ status }) => status.startsWith('2'))?.schema;
}

/** `ExpandedListedOrder` and `Order` are the same kind of record. */
const baseName = (name: string | undefined) => name?.replace(/^(Expanded|Listed|Read|Pinned)+/, '');

/** The rows of an answer: those of a list, of `{ data }`, or of an array. */
function rowsIn(schema: Schema | undefined, { resolve }: Reference): Schema | undefined {
  if (!schema) return undefined;
  const flat = flatten(schema, resolve);
  const page = alternativesOf(flat)[0] ?? flat;
  const { items, properties } = flatten(page, resolve);
  const data = properties?.['data'] && flatten(properties['data'], resolve);
  return items ?? data?.items;
}

/** The values of which a field has one, or none. */
function choicesOf(schema: Schema = {}, { resolve }: Reference): string[] {
  return [schema, ...alternativesOf(flatten(schema, resolve))]
    .flatMap((one) => valuesOf(one, resolve))
    .filter((value) => value !== 'null');
}

function readList(operation: Operation, reference: Reference): RecordList | undefined {
  const items = operation.method === 'GET' ? rowsIn(answerOf(operation), reference) : undefined;
  if (!items) return undefined;
  const { parameters, path } = operation;
  const expand = parameters.find(({ name }) => name === '$expand')?.description ?? '';
  const row = flatten(items, reference.resolve);
  const has = (wanted: string) => parameters.some(({ name }) => name === wanted);
  return {
    operation,
    params: paramsOf(path),
    narrowing: parameters.filter((one) => one.in === 'query' && !/^\$|^(page|limit)$/.test(one.name)).map(({ name }) => name),
    // `metadata.<key>` stands for fields that only records know
    fields: listFieldsOf(parameters)
      .filter(({ name }) => !name.includes('<'))
      .map((field) => ({ ...field, values: choicesOf(row.properties?.[field.name], reference) })),
    row,
    schema: baseName(nameOf(items)),
    relations: [...expand.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name),
    isSearched: has('$search'),
    isQueried: has('$filter'),
  };
}

/** Reads from the document which kinds of records there are, and what can be done with each. */
export function readDefinitions(reference: Reference): Definitions {
  const all = reference.services.flatMap(({ operations }) => operations);
  const at = (method: string, path: string) => all.find((one) => one.method === method && one.path === path);
  const lists = all.flatMap((operation) => readList(operation, reference) ?? []);
  const isList = (operation: Operation) => lists.some((list) => list.operation === operation);
  const kinds = all.flatMap((get): Kind[] => {
    const [, parent, param = ''] = /^(\/.*)\/\{(\w+)\}$/.exec(get.path) ?? [];
    const schema = baseName(nameOf(answerOf(get) ?? {}));
    if (get.method !== 'GET' || parent === undefined || schema === undefined || isList(get)) return [];
    const [patch, remove] = [at('PATCH', get.path), at('DELETE', get.path)];
    // a read of what cannot be changed shows another kind: a person is an identity
    if (!patch && !remove) return [];
    return [
      {
        name: parent.split('/').at(-1) ?? '',
        param,
        parents: paramsOf(parent),
        schema,
        get,
        list: lists.find(({ operation }) => operation.path === parent),
        create: at('POST', parent),
        patch,
        remove,
        restore: at('POST', `${get.path}/restore`),
        actions: [],
        bulk: [],
      },
    ];
  });
  const byParam = new Map(kinds.map((kind) => [kind.param, kind]));
  const own = new Set(kinds.flatMap(({ get, create, patch, remove, restore }) => [get, create, patch, remove, restore]));
  for (const operation of all) {
    if (own.has(operation) || isList(operation)) continue;
    const body = bodyOf(operation, reference);
    const many = kinds.find(({ get }) => get.service === operation.service);
    if (many && (body.items || body.properties?.['ids'])) {
      many.bulk.push(operation);
      continue;
    }
    // of the parameters in its path the first names what it is about, else a property of its body does
    const [named = Object.keys(body.properties ?? {}).find((name) => byParam.has(name)) ?? ''] = paramsOf(operation.path);
    byParam.get(named)?.actions.push(operation);
  }
  return {
    reference,
    operations: new Map(all.map((operation) => [operation.id, operation])),
    kinds,
    lists,
    kindOf: (name) => byParam.get(name),
  };
}

/** The body of an operation; an empty object where it has none. */
export function bodyOf({ body }: Operation, { resolve }: Reference): Schema {
  return body ? flatten(body.schema, resolve) : {};
}

const PEOPLE =
  /^(identity|owner|sender|receiver|reporter|subscribed|actor|fromIdentity|buyer|createdBy|decidedBy|bannedBy|pinnedBy|requester|mention)/;

/** The kind of record that a field names: `parentId` names one of the same kind. */
export function kindNamedBy(field: string, own: Kind | undefined, { kindOf }: Definitions): Kind | undefined {
  const name = field
    .replace(/Ids$/, 'Id')
    .replace(/^(like|follow|replyTo)([A-Z]|Id$)/, (_, verb: string, first: string) =>
      verb === 'replyTo' ? 'message' + first : first.toLowerCase(),
    );
  const named = kindOf(name) ?? (name === 'variantId' ? kindOf('productVariantId') : undefined);
  if (named) return named;
  if (PEOPLE.test(field)) return kindOf('identityId');
  return /^(parent|ancestor)/.test(field) ? own : undefined;
}

/** The kind of record that a field of an operation's input names. */
export function kindOfField(name: string, { service }: Operation, definitions: Definitions): Kind | undefined {
  return kindNamedBy(
    name,
    definitions.kinds.find(({ get }) => get.service === service),
    definitions,
  );
}

const DefinitionsContext = createContext<Definitions | undefined>(undefined);
export const DefinitionsProvider = DefinitionsContext.Provider;

/** What the server's document defines. @throws Error outside its provider */
export function useDefinitions(): Definitions {
  const definitions = use(DefinitionsContext);
  if (!definitions) throw new Error('there are no definitions here');
  return definitions;
}
