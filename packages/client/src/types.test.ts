import { publicProcedure, router } from '@tandem/core';
import type * as server from '@tandem/services';
import type { inferRouterError, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { describe, expectTypeOf, it } from 'vitest';
import type { Failure, RouterInputs, RouterOutputs, TandemClient } from './index.js';
import { createTandemClient, describeFailure } from './index.js';
import type { AppRouter, ChatEvent, ChatServerFrame, ListShapes, NotificationServerFrame } from './router-types.js';

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

describe('types', () => {
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
