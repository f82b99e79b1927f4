import type { AnyTRPCProcedure, AnyTRPCRouter, inferProcedureInput } from '@trpc/server';
import type { z } from 'zod';
import { builderFor } from './builder.js';
import type { Identity, RequestContext } from './context.js';
import { RETRY_AFTER_UNAVAILABLE, requestErrors, type ErrorDefinition } from './errors.js';
import { withDeclaration } from './procedures.js';
import { remadeRouter } from './remade-router.js';
import { checkedEarly } from './rules.js';

/** What a hook is given of a call. */
export interface BeforeCall<Input = unknown, Name extends string = string> {
  /** As validated. A copy: only what the hook returns has an effect. */
  input: Input;
  /** Undefined where the operation is public. */
  identity: Identity | undefined;
  /** The operation's name, as in `operationId`. */
  operation: Name;
}

/** Refuses a call by throwing a declared error; may return another input, which is validated. */
export type BeforeHook<Input = unknown, Name extends string = string> = (
  call: BeforeCall<Input, Name>,
) => Promise<Input | void> | Input | void;

/** A hook, alone or with the errors that it throws, for the OpenAPI document. */
export type DeclaredBefore<Input = unknown, Name extends string = string> =
  BeforeHook<Input, Name> | { errors: readonly ErrorDefinition[]; run: BeforeHook<Input, Name> };

type NameIn<Procedures> = {
  [Name in keyof Procedures & string]: Procedures[Name] extends AnyTRPCProcedure ? Name : `${Name}.${NameIn<Procedures[Name]>}`;
}[keyof Procedures & string];

type InputOf<Procedures, Path> = Path extends `${infer Name}.${infer Rest}`
  ? Name extends keyof Procedures
    ? InputOf<Procedures[Name], Rest>
    : never
  : Path extends keyof Procedures
    ? Procedures[Path] extends AnyTRPCProcedure
      ? inferProcedureInput<Procedures[Path]>
      : never
    : never;

/** Hooks by the names of a router's operations. */
export type BeforeHooks<Router extends AnyTRPCRouter> = {
  [Path in NameIn<Router['_def']['record']>]?: DeclaredBefore<InputOf<Router['_def']['record'], Path>, Path>;
};

/** The hooks of a host that run before its operations (docs/embedding.md). */
export interface Before {
  /**
   * The router with the hooks in its procedures: after rules and validation, before the handler. The others stay as they are.
   * @throws Error for a hook of an operation that the router does not have
   */
  appliedTo<Router extends AnyTRPCRouter>(router: Router): Router;
  /** The hook of an operation that a stream does without its procedure; undefined without one. */
  of(operation: string): Ask | undefined;
}
/**
 * Asks a hook. @returns the validated input for the handler
 * @param isOver whether the caller was answered meanwhile, by the deadline: what comes later must do nothing
 * @throws what the hook throws; Error for an input that is not valid; requestErrors.unavailable
 */
type Ask = <Input>(input: Input, identity: Identity | undefined, isOver: () => boolean) => Promise<Input>;

type Schemas = readonly z.ZodType[];
const trpc = builderFor<RequestContext & { identity?: Identity }>().create();
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What middlewares keep in an input by symbols, as who asks: hooks neither see nor return it. */
function keptIn(input: unknown): object {
  if (!isObject(input)) return {};
  return Object.fromEntries(Object.getOwnPropertySymbols(input).map((key) => [key, Reflect.get(input, key) as unknown]));
}

/** Validates what a hook returned, as tRPC does. @throws Error that names the places, without values, for the log */
async function validated(operation: string, schemas: Schemas, returned: unknown): Promise<unknown> {
  let input: unknown;
  for (const schema of schemas) {
    const { success, data, error } = await schema.safeParseAsync(returned);
    if (!success) {
      const places = error.issues.map(({ code, path: [key = 'all'] }) => `${code} at ${String(key)}`);
      throw new Error(`the hook before ${operation} returned an input that is not valid: ${places.join(', ')}`);
    }
    input = isObject(input) && isObject(data) ? { ...input, ...data } : data;
  }
  return input;
}

/**
 * @param hooks by operation, of type `BeforeHooks`
 * @param asGiven turns a validated input into one that passes its validation again
 * @throws Error for what is no hook
 */
export function createBefore(hooks: object, asGiven: (input: unknown) => unknown = (input) => input): Before {
  const declared = new Map(
    Object.entries(hooks as Record<string, DeclaredBefore | undefined>).flatMap(([operation, hook]) => {
      if (hook === undefined) return [];
      const { errors, run } = typeof hook === 'function' ? { errors: [], run: hook } : hook;
      if (typeof run !== 'function' || !Array.isArray(errors)) throw new Error(`before: "${operation}" must be a function`);
      return [[operation, { errors, run }] as const];
    }),
  );
  const asks = new Map<string, Ask>();

  function askOf(operation: string, schemas: Schemas, run: BeforeHook): Ask {
    return async <Input>(input: Input, identity: Identity | undefined, isOver: () => boolean) => {
      // copies: identities are cached, and the handler's input must be what was validated
      const call = { input: structuredClone(asGiven(input)), identity: identity && { ...identity }, operation };
      const returned = await run(call);
      if (isOver()) throw requestErrors.unavailable({ retryAfter: RETRY_AFTER_UNAVAILABLE });
      if (returned === undefined) return input;
      const changed = await validated(operation, schemas, returned);
      return (isObject(changed) ? { ...changed, ...keptIn(input) } : changed) as Input;
    };
  }

  function middlewareOf(ask: Ask, errors: readonly ErrorDefinition[]) {
    const middleware = trpc.middleware(async ({ ctx, input, next }) => {
      const changed = await ask(input, ctx.identity, () => ctx.waiting?.isOver === true);
      // as tRPC's input middlewares do; its types leave it out
      return next({ input: changed } as object);
    });
    return withDeclaration(middleware, { errors });
  }

  return {
    appliedTo(router) {
      if (declared.size === 0) return router;
      const unknown = [...declared.keys()].find((name) => !Object.hasOwn(router._def.procedures as object, name));
      if (unknown !== undefined) throw new Error(`before: there is no operation "${unknown}"`);
      return remadeRouter(router, (schemas, operation) => {
        const hook = declared.get(operation);
        if (!hook) return null;
        const ask = askOf(operation, schemas.inputs, hook.run);
        asks.set(operation, ask);
        return { ...schemas, middleware: checkedEarly, last: middlewareOf(ask, hook.errors) };
      });
    },
    of: (operation) => asks.get(operation),
  };
}
