/**
 * The standard routes of a record. The kind of a route gives its success status, summary, failure (`Failed to delete parcel`)
 * and usual errors; the record gives its words, input and output. `.query` or `.mutation` ends the route:
 *
 *     const parcel = { one: 'parcel', many: 'parcels', output: ParcelSchema, idInput: parcelInput, errors: parcelErrors };
 *     deleteRoute(parcel, 'DELETE /parcels/{parcelId}', { allow: [admin] }).mutation(({ input }) => parcels.delete(input.parcelId));
 *
 * All require authentication, except `publicGetRoute` and `publicListRoute`.
 */
import {
  IF_MATCH,
  admin,
  authenticatedRoute,
  conditional,
  optionalCaller,
  publicRoute,
  tagged,
  type AuthenticatedRouteOptions,
  type ErrorDefinition,
} from '@tandem/core';
import { askedBy, defineRead, etag, etagOf, listErrors, type ListCall, type ReadQuery, type Relations } from '@tandem/lists';
import { z } from 'zod';
import { createHeaders, once, orMade, type MadeBefore } from './made-before.js';

type Schema = z.ZodType;
type Get = `GET /${string}`;
type Post = `POST /${string}`;
type Patch = `PATCH /${string}`;
type Put = `PUT /${string}`;
type Delete = `DELETE /${string}`;

/** What a route says itself: `errors` are added to the usual ones, all else replaces the usual. */
type Own = Partial<Omit<AuthenticatedRouteOptions, 'status'>>;
type Unguarded = Omit<Own, 'allow'>;
/** `bodyKey` is the input key of the array that is the body. */
type OwnOfArray = Own & { bodyKey: string };

interface Shown<Out extends Schema> {
  /** The record in summaries and failures: `product variant`. */
  one: string;
  /** Shows a record in an answer. */
  output: Out;
}
interface Found<In extends Schema> {
  one: string;
  /** Names one record: its id, and any other ids in the path. */
  idInput: In;
  errors: { notFound: ErrorDefinition };
}
type FoundById<Id extends z.ZodRawShape> = Found<z.ZodObject<Id, z.core.$strict>>;
interface Changed<Out extends Schema> extends Shown<Out> {
  errors: { notFound: ErrorDefinition; nothingToUpdate?: ErrorDefinition };
}
interface Many {
  /** Its plural: `product variants`. */
  many: string;
}
interface ManyFound extends Many {
  errors: { manyNotFound: ErrorDefinition; nothingToUpdateInMany: ErrorDefinition };
}
interface List<In extends Schema, Out extends Schema> {
  input: In;
  output: Out;
  relations?: Relations;
}

function complete<Options extends Own>(own: Options, summary: string, failed: string, usual: (ErrorDefinition | undefined)[]) {
  const errors = [...usual.filter((error) => error !== undefined), ...(own.errors ?? [])];
  return { summary, failure: `Failed to ${failed}`, ...own, errors };
}

/** The input key of the record that a route names: its last path parameter. */
function keyOf(route: string): string {
  return /.*\{(\w+)\}/.exec(route)?.[1] ?? '';
}

/** Gives answers the version of the record that they show; a new one has its first. */
const withTag = tagged((shown, { server }) => {
  const { id } = shown as { id?: unknown };
  return etagOf(shown) ?? (typeof id === 'string' && server.hasMade?.(id) ? etag(id, 1) : undefined);
});

/** The options of a route that changes a record, which may depend on its version (decisions E6). */
function changing<Options extends Own>(options: Options) {
  return { ...options, headers: [...(options.headers ?? []), IF_MATCH] };
}

/** A noun with its indefinite article. */
function a(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

function creating(route: Post, options: AuthenticatedRouteOptions) {
  const headers = [...createHeaders(route), ...(options.headers ?? [])];
  return authenticatedRoute(route, { ...options, status: 201, ...(headers.length > 0 && { headers }) });
}

/** Creates a record and answers it, with 201; sent again with the same `Idempotency-Key`, the same answer. */
export function createRoute<In extends Schema, Out extends Schema>(
  of: Shown<Out>,
  route: Post,
  input: In,
  own: Own & MadeBefore<In, Out> = {},
) {
  const { made, ...options } = complete(own, `Create ${a(of.one)}`, `create ${of.one}`, []);
  return creating(route, options).input(input).use(once(route)).output(of.output).use(withTag).use(orMade(made));
}

function listOptions<Options extends Own>({ many }: Many, own: Options) {
  return complete(own, `List ${many}, newest first`, `find ${many}`, [listErrors.invalidNextToken]);
}

/** Lists records to callers who are signed in. */
export function listRoute<In extends Schema, Out extends Schema>(of: Many, route: Get, list: List<In, Out>, own: Own = {}) {
  const options = listOptions(of, own);
  return authenticatedRoute(route, options).input(list.input).output(list.output);
}

const passOn = ({ next }: { next: () => unknown }) => next();

/** Lets a public read know its caller, where `$expand` asks for related records that are not shown to everybody. */
function callerFor(relations: Relations = {}): ReturnType<typeof optionalCaller> {
  const forSome = Object.entries(relations).flatMap(([name, { kind }]) => (kind.isPrivate ? [name] : []));
  if (forSome.length === 0) return passOn as never;
  return optionalCaller((input) => {
    const { $expand = '' } = input as ReadQuery;
    return $expand.split(',').some((asked) => forSome.includes(asked.trim()));
  });
}

/** Lists records to anybody. */
export function publicListRoute<In extends Schema, Out extends Schema>(
  of: Many,
  route: Get,
  list: List<In, Out>,
  own: Unguarded = {},
) {
  const options = listOptions(of, own);
  return publicRoute(route, options).input(list.input).output(list.output).use(callerFor(list.relations));
}

function getOptions<Options extends Own>({ one, errors }: Found<Schema>, own: Options) {
  return { mayBeUnchanged: true, ...complete(own, `Read ${a(one)}`, `get ${one}`, [errors.notFound]) };
}

/** The record of a single read, with the relations of its list. */
type Read<Id extends z.ZodRawShape, Out extends z.ZodObject, Related extends Relations> = FoundById<Id> &
  Shown<Out> & { list?: { relations: Related } };

/** The parts of a read that answers one record, or the fields of it that `$select` names, with what `$expand` asks for. */
function reading<Id extends z.ZodRawShape, Out extends z.ZodObject, Related extends Relations>(of: Read<Id, Out, Related>) {
  const relations = of.list?.relations ?? ({} as Related);
  const { input: asked, output, select } = defineRead(of.idInput, of.output, relations);
  return {
    input: asked,
    output,
    relations,
    async answer<Result extends { ok: boolean }>({
      ctx,
      input,
      next,
    }: {
      ctx: ListCall;
      input: unknown;
      next: () => Promise<Result>;
    }): Promise<Result> {
      const query = askedBy(ctx, input as ReadQuery);
      const result = await next();
      const { data } = result as { data?: z.output<typeof output> };
      return result.ok && data ? { ...result, data: select(data, query) } : result;
    },
  };
}

/** Answers one record to callers who are signed in. */
export function getRoute<
  Id extends z.ZodRawShape,
  Out extends z.ZodObject,
  // oxlint-disable-next-line typescript/ban-types -- no relations
  Related extends Relations = {},
>(of: Read<Id, Out, Related>, route: Get, own: Own = {}) {
  const { input, output, answer } = reading(of);
  return authenticatedRoute(route, getOptions(of, own)).input(input).output(output).use(answer).use(withTag);
}

/** Answers one record to anybody. */
export function publicGetRoute<
  Id extends z.ZodRawShape,
  Out extends z.ZodObject,
  // oxlint-disable-next-line typescript/ban-types -- no relations
  Related extends Relations = {},
>(of: Read<Id, Out, Related>, route: Get, own: Unguarded = {}) {
  const { input, output, relations, answer } = reading(of);
  const base = publicRoute(route, getOptions(of, own)).input(input).output(output);
  return base.use(callerFor(relations)).use(answer).use(withTag);
}

/** Changes one record and answers it. */
export function patchRoute<In extends Schema, Out extends Schema>(of: Changed<Out>, route: Patch, input: In, own: Own = {}) {
  const options = complete(own, `Change ${a(of.one)}`, `update ${of.one}`, [of.errors.notFound, of.errors.nothingToUpdate]);
  return authenticatedRoute(route, changing(options))
    .input(input)
    .output(of.output)
    .use(withTag)
    .use(conditional(keyOf(route)));
}

/** Changes one record by a verb of its own and answers it: `moveRoute(order, 'POST /orders/{orderId}/cancel', 'cancel', …)`. */
export function moveRoute<In extends Schema, Out extends Schema>(
  of: Changed<Out>,
  route: Post | Put,
  verb: string,
  input: In,
  own: Own & { summary: string },
) {
  const options = complete(own, own.summary, `${verb} ${of.one}`, [of.errors.notFound]);
  return authenticatedRoute(route, changing(options))
    .input(input)
    .output(of.output)
    .use(withTag)
    .use(conditional(keyOf(route)));
}

/** Removes what belongs to a record: a relation, a file, a member. */
export function removeRoute<In extends Schema>(of: Found<In>, route: Delete, own: Own = {}) {
  const options = complete(own, `Delete ${a(of.one)}`, `delete ${of.one}`, [of.errors.notFound]);
  return authenticatedRoute(route, { ...options, status: 204 }).input(of.idInput);
}

/** Deletes one record. */
export function deleteRoute<In extends Schema>(of: Found<In>, route: Delete, own: Own = {}) {
  const options = complete(own, `Delete ${a(of.one)}`, `delete ${of.one}`, [of.errors.notFound]);
  return authenticatedRoute(route, { ...changing(options), status: 204 })
    .input(of.idInput)
    .use(conditional(keyOf(route)));
}

/** Restores one deleted record and answers it. Only admins may, for every record. */
export function restoreRoute<In extends Schema, Out extends Schema>(
  of: Found<In> & Shown<Out>,
  route: Post,
  own: Unguarded = {},
) {
  const options = complete(own, `Restore a deleted ${of.one}`, `restore ${of.one}`, [of.errors.notFound]);
  return authenticatedRoute(route, { ...options, allow: [admin] })
    .input(of.idInput)
    .output(of.output)
    .use(withTag);
}

/** An action on one record that answers nothing: `actionRoute(parcel, 'POST /parcels/{parcelId}/seal', 'seal', { … })`. */
export function actionRoute<In extends Schema>(of: Found<In>, route: Post | Put, verb: string, own: Own & { summary: string }) {
  const options = complete(own, own.summary, `${verb} ${of.one}`, [of.errors.notFound]);
  return authenticatedRoute(route, { ...options, status: 204 }).input(of.idInput);
}

/** Creates many records and answers them, with 201; sent again as one record. */
export function createManyRoute<In extends Schema, Out extends Schema>(
  of: Many & Shown<Out>,
  route: Post,
  input: In,
  own: OwnOfArray & MadeBefore<In, z.ZodArray<Out>>,
) {
  const { made, ...options } = complete(own, `Create many ${of.many}, all or none`, `create ${of.many}`, []);
  return creating(route, options).input(input).use(once(route)).output(z.array(of.output)).use(orMade(made));
}

/** Makes the same change to many records and answers them. */
export function patchManyRoute<In extends Schema, Out extends Schema>(
  of: ManyFound & Shown<Out>,
  route: Patch,
  input: In,
  own: Own = {},
) {
  const { manyNotFound, nothingToUpdateInMany } = of.errors;
  const summary = `Change many ${of.many} alike, all or none`;
  const options = complete(own, summary, `update ${of.many}`, [manyNotFound, nothingToUpdateInMany]);
  return authenticatedRoute(route, options).input(input).output(z.array(of.output));
}

/** Deletes many records; the body is the array of their `ids`. */
export function deleteManyRoute<In extends Schema>(of: ManyFound, route: Delete | Post, input: In, own: Own = {}) {
  const options = complete(own, `Delete many ${of.many}, all or none`, `delete ${of.many}`, [of.errors.manyNotFound]);
  return authenticatedRoute(route, { ...options, status: 204, bodyKey: 'ids' }).input(input);
}
