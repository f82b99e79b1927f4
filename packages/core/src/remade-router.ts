import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import type { Meta } from './operation.js';
import { procedure, router } from './procedures.js';

type Procedures = { [name: string]: AnyTRPCProcedure | Procedures };
type Middleware = object & { _type?: string };

type Builder = Record<'input' | 'output' | 'use', (part: object | undefined) => Builder> &
  Record<'query' | 'mutation' | 'subscription', (resolver: unknown) => AnyTRPCProcedure>;

/** Undeclared internals that tRPC keeps in a procedure: what its builder was given, in order, and last the handler. */
interface Internals {
  type: 'query' | 'mutation' | 'subscription';
  meta: Meta | undefined;
  inputs: z.ZodType[];
  output?: z.ZodType;
  middlewares: Middleware[];
  resolver: unknown;
}

/** The parts of a procedure that can be replaced. */
interface Parts {
  inputs: readonly z.ZodType[];
  output: z.ZodType | undefined;
  /** Neither for the schemas nor the handler. */
  middleware?(given: Middleware): object;
  /** Runs before the handler, after all others. */
  last?: object;
}

/** The parts of a procedure; null where it stays as it is. */
type Remake = (given: Pick<Parts, 'inputs' | 'output'>, name: string) => Parts | null;

/** The same procedure of other parts: built again, because its middlewares hold its schemas. */
function remade(given: AnyTRPCProcedure, { inputs, output, middleware = (one) => one, last }: Parts): AnyTRPCProcedure {
  const { type, meta, middlewares, resolver } = given._def as unknown as Internals;
  const others = [...inputs];
  // operations are cached by their meta
  let builder = procedure.meta({ ...meta }) as unknown as Builder;
  for (const one of middlewares.slice(0, -1)) {
    if (one._type === 'input') builder = builder.input(others.shift());
    else if (one._type === 'output') builder = builder.output(output);
    else builder = builder.use(middleware(one));
  }
  if (last) builder = builder.use(last);
  return builder[type](resolver);
}

function remadeProcedures(given: Procedures, remake: Remake, prefix = ''): Procedures {
  const entries = Object.entries(given).map(([name, one]) => {
    if (typeof one !== 'function') return [name, remadeProcedures(one, remake, `${prefix}${name}.`)] as const;
    const { inputs, output } = one._def as unknown as Internals;
    const parts = remake({ inputs, output }, prefix + name);
    return [name, parts ? remade(one, parts) : one] as const;
  });
  return Object.fromEntries(entries);
}

/** The same router, with some procedures made again. */
export function remadeRouter<Router extends AnyTRPCRouter>(given: Router, remake: Remake): Router {
  return router(remadeProcedures(given._def.record as Procedures, remake)) as unknown as Router;
}

/**
 * The same router with other schemas.
 * @param other the schema in place of the given one, or the given one
 */
export function withOtherSchemas<Router extends AnyTRPCRouter>(given: Router, other: (schema: z.ZodType) => z.ZodType): Router {
  return remadeRouter(given, ({ inputs, output }) => {
    const parts = { inputs: inputs.map(other), output: output && other(output) };
    const isSame = parts.output === output && parts.inputs.every((input, at) => input === inputs[at]);
    return isSame ? null : parts;
  });
}
