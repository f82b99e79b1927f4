import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import type { Meta } from './operation.js';
import { procedure, router } from './procedures.js';

type Other = (schema: z.ZodType) => z.ZodType;
type Procedures = { [name: string]: AnyTRPCProcedure | Procedures };

type Builder = Record<'input' | 'output' | 'use', (part: object | undefined) => Builder> &
  Record<'query' | 'mutation' | 'subscription', (resolver: unknown) => AnyTRPCProcedure>;

/** Undeclared internals that tRPC keeps in a procedure: what its builder was given, in order, and last the handler. */
interface Internals {
  type: 'query' | 'mutation' | 'subscription';
  meta: Meta | undefined;
  inputs: z.ZodType[];
  output?: z.ZodType;
  middlewares: (object & { _type?: string })[];
  resolver: unknown;
}

/** The same procedure with other schemas: built again, because its middlewares hold them. */
function procedureWith(other: Other, given: AnyTRPCProcedure): AnyTRPCProcedure {
  const { type, meta, inputs, output, middlewares, resolver } = given._def as unknown as Internals;
  const others = inputs.map(other);
  const shown = output && other(output);
  if (shown === output && others.every((input, at) => input === inputs[at])) return given;
  // operations are cached by their meta
  let builder = procedure.meta({ ...meta }) as unknown as Builder;
  for (const middleware of middlewares.slice(0, -1)) {
    if (middleware._type === 'input') builder = builder.input(others.shift());
    else if (middleware._type === 'output') builder = builder.output(shown);
    else builder = builder.use(middleware);
  }
  return builder[type](resolver);
}

function proceduresWith(other: Other, given: Procedures): Procedures {
  const remade = Object.entries(given).map(([name, one]) => {
    return [name, typeof one === 'function' ? procedureWith(other, one) : proceduresWith(other, one)] as const;
  });
  return Object.fromEntries(remade);
}

/**
 * The same router with other schemas.
 * @param other the schema in place of the given one, or the given one
 */
export function withOtherSchemas<Router extends AnyTRPCRouter>(given: Router, other: Other): Router {
  return router(proceduresWith(other, given._def.record as Procedures)) as unknown as Router;
}
