import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import {
  admin,
  allOf,
  allow,
  anyOf,
  authenticated,
  createOpenApiDocument,
  defineErrors,
  notGuest,
  publicProcedure,
  rest,
  router,
  self,
  type OpenApiOptions,
} from '../src/index.js';

export const errors = defineErrors('things', {
  gone: [404, 'Thing not found'],
  lost: [404, 'Thing is lost'],
  taken: [409, 'Thing {name} (of {owner}) is taken'],
  busy: [409, 'Thing is busy'],
});
export const meta = (route: Parameters<typeof rest>[0], options = {}) =>
  rest(route, { summary: 'Summary', failure: 'Failed', ...options });
export const KEY = { name: 'x-key', description: 'A key.', schema: { type: 'string' } };
export const Label = z.strictObject({ text: z.string() }).meta({ id: 'Label' });
const Thing = z.strictObject({ id: z.string(), name: z.string(), note: z.string().optional() });

/** A router whose document tests read. Made within each test, so that the tests of a changed line are known. */
const appOf = () =>
  router({
    things: router({
      read: publicProcedure.meta(meta('GET /things/{id}', { errors: [errors.gone], headers: [KEY] })).input(z.strictObject({ id: z.string() })).output(Thing).query(() => ({}) as never), // prettier-ignore
      create: authenticated.meta(meta('POST /things', { status: 201, errors: [errors.taken, errors.busy] })).input(Thing.omit({ id: true }).refine(() => true)).output(Thing).mutation(() => ({}) as never), // prettier-ignore
      change: publicProcedure.meta(meta('PATCH /things/{id}', { mayBeEmpty: true })).input(z.strictObject({ id: z.string(), name: z.string().optional() })).output(Thing).mutation(() => ({}) as never), // prettier-ignore
      remove: publicProcedure.meta(meta('DELETE /things/{id}', { status: 204, hasBody: true })).input(z.strictObject({ id: z.string(), why: z.string(), also: z.string().optional() })).output(z.void()).mutation(() => {}), // prettier-ignore
      list: publicProcedure.meta(meta('PUT /things', { headers: [KEY], bodyKey: 'all' })).input(z.strictObject({ all: z.array(z.string()) })).output(z.void()).mutation(() => {}), // prettier-ignore
      clear: publicProcedure.meta(meta('DELETE /things', { hasBody: true })).input(z.strictObject({ why: z.string().optional() })).output(Label).mutation(() => ({}) as never), // prettier-ignore
      hidden: publicProcedure.output(z.void()).query(() => {}),
    }),
    secrets: router({
      read: authenticated.meta(meta('GET /secrets')).output(z.void()).query(() => {}), // prettier-ignore
      change: authenticated.use(allow(notGuest)).use(allow(admin)).meta(meta('PUT /secrets')).output(z.void()).mutation(() => {}), // prettier-ignore
      delete: authenticated.use(allow(allOf(notGuest, anyOf(admin, self('ownerId'))))).meta(meta('DELETE /secrets')).output(z.void()).mutation(() => {}), // prettier-ignore
    }),
  });

/** A public operation without an output, of an input. */
export const asking = (route: Parameters<typeof rest>[0], input: z.ZodObject) =>
  publicProcedure.meta(meta(route)).input(input).output(z.void()).mutation(() => {}); // prettier-ignore

export const documentOf = ({
  app = appOf() as AnyTRPCRouter,
  ...options
}: Partial<OpenApiOptions> & { app?: AnyTRPCRouter } = {}) =>
  createOpenApiDocument(app, {
    title: 'Things',
    description: 'Of a test.',
    version: '1.2.3',
    url: 'https://api.example.org',
    authModeOf: (service) => (service === 'secrets' ? 'cookie' : 'bearer'),
    ...options,
  });
export const operation = async (method: string, path: string) => (await documentOf()).paths[path]?.[method];
export const jsonOf = (schema: object) => ({ 'application/json': { schema } });
export const ERROR = { $ref: '#/components/schemas/Error' };
export const envelope = (message: object) => jsonOf({ allOf: [ERROR, { properties: { error: { properties: { message } } } }] });
/** An answer of an operation, as its component, with the component's name. */
export async function answerOf(method: string, path: string, status: number) {
  const { components, paths } = await documentOf();
  const { $ref = '' } = (paths[path]?.[method]?.responses[status] ?? {}) as { $ref?: string };
  const name = $ref.replace('#/components/responses/', '');
  return { name, ...components.responses[name] };
}
