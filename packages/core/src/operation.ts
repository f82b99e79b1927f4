import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { z } from 'zod';
import type { ErrorDefinition } from './errors.js';
import type { ScopedProcedure } from './keys.js';
import type { InputPlaces } from './validation-texts.js';

/** Statuses of a successful answer. */
export type SuccessStatus = 200 | 201 | 202 | 204 | 302;

/** An optional request header, as OpenAPI describes a parameter. */
export interface DescribedHeader {
  name: string;
  description: string;
  example?: unknown;
  schema: Readonly<Record<string, unknown>>;
}

/** A procedure's REST options beyond its schemas. */
export interface RestOptions {
  /** One line for the API page. */
  summary: string;
  /**
   * 201 for a create, 204 for an action without an answer; else 200 (decisions T7). With 302 the output is `{ location
   * }`: a header and no body on REST; the answer itself on tRPC, where the caller follows it.
   */
  status?: SuccessStatus;
  /**
   * The spec's `Failed to <verb> <entity>`: the only text shown for an unexpected failure, so that internals never leak
   * (decisions T4).
   */
  failure: string;
  /** The errors its handler may throw. Those of its authentication, rules and validation are added automatically. */
  errors?: readonly ErrorDefinition[];
  /** The output may be absent; the answer is then 204. */
  mayBeEmpty?: true;
  /** Request headers that the handler reads itself, for the documents. */
  headers?: readonly DescribedHeader[];
  /** The answer has an `ETag`, and is 304 without a body where the caller knows it. */
  mayBeUnchanged?: boolean;
  /** Fields of the answer that are shown once, such as a secret: a repeated `Idempotency-Key` is answered without them. */
  shownOnce?: readonly string[];
  /** A DELETE takes the input that is not in its path from a body instead of the query. */
  hasBody?: true;
  /** Whether it is a read for scopes of API keys: a mutation that changes nothing, or a query that does. Default: queries are. */
  isRead?: boolean;
  /** The subscription that the answer opens: scopes of API keys that name it allow this too. */
  opens?: string;
  /** The input key that names a caller who may lack the second factor that is required of them (decisions F5). */
  withoutFactor?: string;
  /** The body may also be an HTML form, which pages of other sites submit: its origin is not checked. */
  isForm?: true;
  /** The input key that stands for the whole body, where the body is an array. */
  bodyKey?: string;
}

/** tRPC's metadata of a procedure: its REST route in the terms of `trpc-to-openapi`, and our options. */
export interface Meta extends OpenApiMeta<Record<string, unknown>> {
  rest?: RestOptions;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A method and a path: `POST /notifications/{notificationId}/read`. */
export type Route = `${Method} /${string}`;

/**
 * The REST route of a procedure: `rest('POST /notifications/{notificationId}/read', { … })`. Path parameters are in
 * braces and are keys of the procedure's input.
 */
export function rest(route: Route, options: RestOptions): Meta {
  const [method, path] = route.split(' ') as [Method, `/${string}`];
  return { openapi: { method, path, summary: options.summary, errorResponses: [] }, rest: options };
}

/** How path or query text is converted. */
export type TextKind = 'string' | 'number' | 'boolean' | 'array';

/** A procedure with a REST route: all that both faces and the documents need. */
export interface Operation extends InputPlaces {
  /** The tRPC path, which is also the `operationId` (decisions T7). */
  name: string;
  method: Method;
  path: string;
  status: SuccessStatus;
  /** How each top-level input key is converted from text. */
  textKinds: Readonly<Record<string, TextKind>>;
  /** The input's schema, used to report all problems at once; undefined when there is no input. */
  schema: z.ZodType | undefined;
  options: RestOptions;
  procedure: AnyTRPCProcedure;
}

/** Undeclared internals that tRPC keeps in a procedure. */
interface ProcedureInternals {
  inputs: z.ZodType[];
  middlewares: object[];
}

/** The middlewares of a procedure, in the order in which they run. */
export function middlewaresOf(procedure: AnyTRPCProcedure): object[] {
  return (procedure._def as unknown as ProcedureInternals).middlewares;
}

/** The service that a procedure belongs to: the first word of its name. */
export function serviceOf(name: string): string {
  return name.split('.', 1)[0] ?? name;
}

/** The schema inside optionals, defaults and pipes. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType, in: input } = schema._zod.def as { innerType?: z.core.$ZodType; in?: z.core.$ZodType };
  const inner = innerType ?? input;
  return inner ? unwrap(inner) : schema;
}

function textKindOf(schema: z.core.$ZodType): TextKind {
  const { type } = unwrap(schema)._zod.def;
  return type === 'number' || type === 'boolean' || type === 'array' ? type : 'string';
}

/**
 * Where the keys of a procedure's input come from on the REST face; a procedure without a route counts as one with a
 * body.
 */
export function placesOf({ openapi, rest: options }: Meta): InputPlaces {
  const { method = 'POST', path = '/' } = openapi ?? {};
  return {
    pathKeys: [...path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key as string),
    hasBody: method !== 'GET' && (method !== 'DELETE' || options?.hasBody === true || options?.bodyKey !== undefined),
    ...(options?.bodyKey !== undefined && { bodyKey: options.bodyKey }),
  };
}

/** A procedure as scopes of API keys name it. */
export function scopedProcedure(name: string, type: string, { rest: options }: Meta = {}): ScopedProcedure {
  return { name, isRead: options?.isRead ?? type !== 'mutation', opens: options?.opens };
}

/** All procedures of a router, as scopes of API keys name them. */
export function scopedProcedures(router: AnyTRPCRouter): ScopedProcedure[] {
  return Object.entries(router._def.procedures as Record<string, AnyTRPCProcedure>).map(([name, { _def }]) =>
    scopedProcedure(name, _def.type, _def.meta as Meta | undefined),
  );
}

const operations = new WeakMap<Meta, Operation>();

/** The input schema of a procedure whose operation has been made, found by its meta. */
export function schemaOf(meta: Meta): z.ZodType | undefined {
  return operations.get(meta)?.schema;
}

/**
 * The operation of a procedure with a REST route; undefined without one. Made once and cached by the procedure's meta.
 */
export function operationOf(name: string, procedure: AnyTRPCProcedure): Operation | undefined {
  const meta = procedure._def.meta as Meta | undefined;
  if (!meta?.openapi || !meta.rest) return undefined;
  const existing = operations.get(meta);
  if (existing) return existing;
  const { method, path } = meta.openapi;
  const { inputs } = procedure._def as unknown as ProcedureInternals;
  const shapes = inputs.map((input) => (unwrap(input)._zod.def as { shape?: Record<string, z.core.$ZodType> }).shape ?? {});
  const shape = Object.fromEntries(shapes.flatMap((one) => Object.entries(one)));
  const operation: Operation = {
    ...placesOf(meta),
    name,
    method,
    path,
    status: meta.rest.status ?? 200,
    textKinds: Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, textKindOf(schema)])),
    schema: inputs[0],
    options: meta.rest,
    procedure,
  };
  operations.set(meta, operation);
  return operation;
}

/**
 * All operations of a router. Static path segments sort before parameters, so that the first matching route is the
 * right one.
 */
export function operationsOf(router: AnyTRPCRouter): Operation[] {
  const rank = ({ path }: Operation) => path.split('/').map((segment) => (segment.startsWith('{') ? '1' : '0')).join(''); // prettier-ignore
  return Object.entries(router._def.procedures as Record<string, AnyTRPCProcedure>)
    .flatMap(([name, procedure]) => operationOf(name, procedure) ?? [])
    .sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
}
