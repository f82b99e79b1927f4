import type * as server from '@tandem/services';
import type { TRPCBuiltRouter, inferRouterError, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { flat, flatProcedures } from './flat.js';

// values, whose types are written out in the declarations: front ends do not install the services
const procedures = flatProcedures<server.AppRouter['_def']['record']>();
const error = flat<inferRouterError<server.AppRouter>>();
const lists = flat<server.ListShapes>();
const chatEvent = flat<server.ChatEvent>();
const chatFrame = flat<server.ChatServerFrame>();
const notificationFrame = flat<server.NotificationServerFrame>();
// as keys: a union would keep its name
const errorCodes = flat<{ [Code in server.ErrorCode]: true }>();

/** The server's procedures. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: typeof error; transformer: false },
  typeof procedures
>;

/** The input of each procedure: `RouterInputs['notifications']['list']`. */
export type RouterInputs = inferRouterInputs<AppRouter>;

/** The output of each procedure: `RouterOutputs['notifications']['list']`. Dates are ISO strings. */
export type RouterOutputs = inferRouterOutputs<AppRouter>;

/** The query fields of each list, by tRPC path. */
export type ListShapes = typeof lists;

/** The code of any error: the service that declares it, and its name there. */
export type ErrorCode = keyof typeof errorCodes;

export type ChatEvent = typeof chatEvent;
export type ChatServerFrame = typeof chatFrame;
export type NotificationServerFrame = typeof notificationFrame;
