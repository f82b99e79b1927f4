import { defineErrors, publicProcedure, router, type CodesOf } from '@tandem/core';
import type * as server from '@tandem/services';
import type { inferRouterError, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Failure, TandemError, RouterInputs, RouterOutputs, TandemClient } from './index.js';
import { createTandemClient, describeFailure, field, isError, queriesOf, rowOf, rowsOf, type StreamError } from './index.js';
import type { AppRouter, ChatEvent, ChatServerFrame, ErrorCode, ListShapes, NotificationServerFrame } from './router-types.js';

type ServerInputs = inferRouterInputs<server.AppRouter>;
type ServerOutputs = inferRouterOutputs<server.AppRouter>;
type Api = TandemClient['api'];
/** Whether an input names a parameter; one that takes any name does not. */
type Names<Input, Parameter extends string> = Parameter extends keyof Input ? (string extends keyof Input ? false : true) : false;
/** The procedures that take list queries, by tRPC path. */
type ListsOf<Inputs> = {
  [Service in keyof Inputs & string]: {
    [Name in keyof Inputs[Service] & string]: Names<Inputs[Service][Name], '$filter'> extends true ? `${Service}.${Name}` : never;
  }[keyof Inputs[Service] & string];
}[keyof Inputs & string];
type Page = Awaited<ReturnType<Api['notifications']['list']['query']>>;

const hostFields = {
  products: z.object({ gtin: z.string().optional(), rank: z.number().default(0), marks: z.array(z.string()) }),
  messages: z.object({ mood: z.enum(['good', 'bad']).optional() }),
  organizations: z.object({ vat: z.string() }),
};
type HostRouter = server.Tandem<server.ServiceName, readonly [], typeof hostFields>['router'];
type HostApi = TandemClient<HostRouter>['api'];
type HostInputs = inferRouterInputs<HostRouter>;
type HostOutputs = inferRouterOutputs<HostRouter>;
type Given<Name extends 'create' | 'patch' | 'createMany' | 'patchMany'> = Parameters<HostApi['products'][Name]['mutate']>[0];
type Kept = RouterOutputs['products']['get'] & { gtin: string | null; rank: number | null; marks: string[] | null };

describe('types', () => {
  it('of a host’s fields are in inputs and answers of their records', () => {
    expectTypeOf<Awaited<ReturnType<HostApi['products']['get']['query']>>>().toExtend<Kept>();
    expectTypeOf<Awaited<ReturnType<HostApi['products']['create']['mutate']>>>().toExtend<Kept>();
    expectTypeOf<Awaited<ReturnType<HostApi['products']['list']['query']>>['data'][number]>().toExtend<Kept>();
    expectTypeOf<Awaited<ReturnType<HostApi['products']['patchMany']['mutate']>>[number]>().toExtend<Kept>();
    expectTypeOf<Awaited<ReturnType<HostApi['categories']['get']['query']>>>().not.toExtend<{ gtin: string | null }>();
    expectTypeOf<Given<'create'>['rank']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<{ name: string; description: string; marks: string[] }>().toExtend<Given<'create'>>();
    expectTypeOf<{ name: string; description: string }>().not.toExtend<Given<'create'>>();
    expectTypeOf<{ name: string; description: string; marks: string[]; gtin: number }>().not.toExtend<Given<'create'>>();
    expectTypeOf<{ products: { name: string; description: string; marks: number[] }[] }>().not.toExtend<Given<'createMany'>>();
    expectTypeOf<{ productId: string; gtin: null }>().toExtend<Given<'patch'>>();
    expectTypeOf<{ productId: string; marks: null }>().not.toExtend<Given<'patch'>>();
    expectTypeOf<{ ids: string[]; data: { gtin: string } }>().toExtend<Given<'patchMany'>>();
    expectTypeOf<{ ids: string[]; data: { gtin: number } }>().not.toExtend<Given<'patchMany'>>();
  });

  it('of an event tell which record it shows, read and streamed', () => {
    type Event = RouterOutputs['events']['list']['data'][number];
    const show = (event: Event) => {
      if (event.type === 'order.updated')
        expectTypeOf(event.data.status).toEqualTypeOf<RouterOutputs['orders']['get']['status']>();
      if (event.type === 'product.deleted') expectTypeOf(event.data.name).toEqualTypeOf<string>();
      if (event.type === 'message.created') expectTypeOf(event.data.content).toEqualTypeOf<string | undefined>();
    };
    expectTypeOf(show).toBeFunction();
    expectTypeOf<'order.paid'>().not.toExtend<Event['type']>();
    type Streamed = RouterOutputs['events']['stream'] extends AsyncIterable<infer One> ? One : never;
    expectTypeOf<Streamed extends { data: infer One } ? One : never>().toEqualTypeOf<Event>();
  });

  it('of a host’s fields are in those of other kinds, related records, parts of inputs and streams', () => {
    expectTypeOf<HostInputs['chat']['createMessage']['mood']>().toEqualTypeOf<'good' | 'bad' | undefined>();
    expectTypeOf<HostInputs['chat']['patchMessage']['mood']>().toEqualTypeOf<'good' | 'bad' | null | undefined>();
    expectTypeOf<HostInputs['chat']['createChannel']>().toEqualTypeOf<RouterInputs['chat']['createChannel']>();
    expectTypeOf<HostInputs['organizations']['create']['organization']['vat']>().toEqualTypeOf<string>();
    expectTypeOf<HostInputs['organizations']['patchAsAdmin']['vat']>().toEqualTypeOf<string | undefined>();
    type Variant = HostOutputs['productVariants']['get'];
    expectTypeOf<NonNullable<Variant['product']>['gtin']>().toEqualTypeOf<string | null>();
    expectTypeOf<Variant>().not.toHaveProperty('gtin');
    type Product = HostOutputs['products']['list']['data'][number];
    expectTypeOf<NonNullable<Product['organization']>['vat']>().toEqualTypeOf<string | null>();
    type Line = HostOutputs['orders']['get']['items'][number];
    expectTypeOf<NonNullable<Line['product']>['rank']>().toEqualTypeOf<number | null>();
    expectTypeOf<HostOutputs['chat']['listMessages']['data'][number]['mood']>().toEqualTypeOf<'good' | 'bad' | null>();
    type Event = HostOutputs['chat']['channelEvents'] extends AsyncIterable<infer One> ? One : never;
    type Created = Extract<Event extends { data: infer Frame } ? Frame : never, { type: 'message.created' }>;
    expectTypeOf<Created['message']['mood']>().toEqualTypeOf<'good' | 'bad' | null>();
  });

  it('of a host’s fields are known to list queries, selections and expansions', () => {
    const { queryOf, selectOf, expandOf } = queriesOf<HostRouter>();
    const products = queryOf('products.list').where('gtin', 'eq', '1').where(field('rank').gt(1)).orderBy('rank', 'desc');
    products.where('marks', 'eq', 'a').where('name', 'eq', 'Tea').where('metadata.erp', 'eq', 1).orderBy('createdAt');
    // @ts-expect-error -- a text
    products.where('gtin', 'eq', 5);
    // @ts-expect-error -- a number
    products.where(field('rank').gt('1'));
    // @ts-expect-error -- a list
    products.orderBy('marks');
    // @ts-expect-error -- no such field
    products.where('vat', 'eq', '1');
    // @ts-expect-error -- without them
    queryOf('categories.list').orderBy('rank');
    const selected = rowsOf({ value: [] }, products.select('gtin').parameters).value;
    expectTypeOf(selected).items.toExtend<{ id: string; gtin: string | null }>();
    expectTypeOf(selected).items.not.toHaveProperty('rank');
    const { parameters } = products.expand('organization');
    const [row] = rowsOf({ value: [] }, parameters).value;
    expectTypeOf<NonNullable<NonNullable<typeof row>['organization']>['vat']>().toEqualTypeOf<string | null>();
    queryOf('notifications.list').where('isRead', 'eq', false);

    const asked = { ...selectOf('products.get', 'rank'), ...expandOf('products.get', 'organization') };
    const product = rowOf({} as HostOutputs['products']['get'], asked);
    expectTypeOf(product.rank).toEqualTypeOf<number | null>();
    expectTypeOf<NonNullable<typeof product.organization>['vat']>().toEqualTypeOf<string | null>();
    // @ts-expect-error -- no such field
    selectOf('products.get', 'vat');
  });

  it('come from the server’s procedures, at the client and by name', () => {
    expectTypeOf<Parameters<Api['notifications']['list']['query']>[0]>().toEqualTypeOf<RouterInputs['notifications']['list']>();
    expectTypeOf<Page>().toEqualTypeOf<RouterOutputs['notifications']['list']>();
    expectTypeOf<RouterInputs['notifications']['markRead']>().toEqualTypeOf<{ notificationId: string }>();
    expectTypeOf<RouterOutputs['notifications']['unreadCount']>().toEqualTypeOf<{ unread: number }>();
    expectTypeOf<Page['data'][number]['createdAt']>().toEqualTypeOf<string>();
    expectTypeOf<Page['metadata']['pagination']['hasNext']>().toEqualTypeOf<boolean>();
    expectTypeOf<RouterOutputs['identities']['get']['deactivatedAt']>().toEqualTypeOf<string | null>();
  });

  it('are those of the server in both directions', () => {
    expectTypeOf<RouterInputs>().toExtend<ServerInputs>();
    expectTypeOf<ServerInputs>().toExtend<RouterInputs>();
    expectTypeOf<RouterOutputs>().toExtend<ServerOutputs>();
    expectTypeOf<ServerOutputs>().toExtend<RouterOutputs>();
    expectTypeOf<inferRouterError<AppRouter>>().toEqualTypeOf<inferRouterError<server.AppRouter>>();
    expectTypeOf<ListShapes>().toExtend<server.ListShapes>();
    expectTypeOf<server.ListShapes>().toExtend<ListShapes>();
    expectTypeOf<ChatEvent>().toEqualTypeOf<server.ChatEvent>();
    expectTypeOf<ChatServerFrame>().toEqualTypeOf<server.ChatServerFrame>();
    expectTypeOf<NotificationServerFrame>().toEqualTypeOf<server.NotificationServerFrame>();
    expectTypeOf<ErrorCode>().toEqualTypeOf<server.ErrorCode>();
  });

  it('of codes are all that are declared, and no others', () => {
    expectTypeOf<NonNullable<Failure['code']>>().toEqualTypeOf<ErrorCode>();
    expectTypeOf<'products.notFound' | 'request.invalid' | 'authentication.unverified' | 'rules.notSelf'>().toExtend<ErrorCode>();
    expectTypeOf<'trpc.CONFLICT'>().toExtend<ErrorCode>();
    expectTypeOf<string>().not.toExtend<ErrorCode>();
    expectTypeOf<'products.lost'>().not.toExtend<ErrorCode>();
    // @ts-expect-error -- no such code
    isError(undefined, 'products.lost');
    const hostErrors = () => defineErrors('tasks', { late: [409, 'Task is late'], lost: [404, 'Task not found'] });
    type HostCode = CodesOf<ReturnType<typeof hostErrors>>;
    expectTypeOf<HostCode>().toEqualTypeOf<'tasks.late' | 'tasks.lost'>();
    isError<ErrorCode | HostCode>(undefined, 'tasks.late');
    isError<ErrorCode | HostCode>(undefined, 'products.notFound');
    // @ts-expect-error -- no such code
    isError<ErrorCode | HostCode>(undefined, 'tasks.early');
  });

  it('of errors are narrowed by a code', () => {
    const thrown: unknown = undefined;
    if (isError(thrown, 'products.notFound')) expectTypeOf(thrown.message).toBeString();
    const failure = undefined as TandemError | undefined;
    if (isError(failure, 'products.notFound')) {
      expectTypeOf(failure.code).toEqualTypeOf<'products.notFound'>();
      expectTypeOf(failure.data).toEqualTypeOf<readonly string[]>();
    }
    const frame = {} as StreamError;
    if (isError(frame, 'chat.notSubscribed')) expectTypeOf(frame.errorCode).toEqualTypeOf<'chat.notSubscribed'>();
  });

  it('distinguish queries from mutations, and include nothing else', () => {
    expectTypeOf<Api['notifications']['list']>().not.toHaveProperty('mutate');
    expectTypeOf<Api['notifications']['markRead']>().not.toHaveProperty('query');
    expectTypeOf<Api>().not.toHaveProperty('nothing');
  });

  it('of list queries exist for every list', () => {
    expectTypeOf<keyof ListShapes>().toEqualTypeOf<ListsOf<RouterInputs>>();
  });

  it('of failures and credentials are plain', () => {
    expectTypeOf(describeFailure).returns.toEqualTypeOf<Failure>();
    expectTypeOf<TandemClient['signIn']>().toEqualTypeOf<
      (input: { email: string; password: string }) => Promise<{ id: string }>
    >();
  });

  it('know the procedures that a host has added', () => {
    const addToRouter = () => router({ shop: router({ greet: publicProcedure.query(() => 'hello') }) });
    type Shop = TandemClient<ReturnType<typeof addToRouter>>['api'];
    expectTypeOf<Awaited<ReturnType<Shop['shop']['greet']['query']>>>().toBeString();
    expectTypeOf(createTandemClient<ReturnType<typeof addToRouter>>)
      .returns.toHaveProperty('api')
      .toEqualTypeOf<Shop>();
  });
});
