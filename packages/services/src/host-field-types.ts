import type { TRPCBuiltRouter, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server';
import type { z } from 'zod';
import type { DeclaredFields } from './host-fields.js';
import type { Product } from './products/products.schemas.js';

/** What records look like without a host's fields, by service. */
interface Records {
  products: Product;
}

/** The procedures of a router whose records have fields of the host. */
export type WithFields<Router, Fields extends DeclaredFields> = keyof Fields extends never
  ? Router
  : Router extends TRPCBuiltRouter<infer Root, infer Services>
    ? TRPCBuiltRouter<
        Root,
        {
          [Name in keyof Services]: Name extends keyof Fields & keyof Records
            ? Fields[Name] extends z.ZodObject
              ? ServiceWith<Services[Name], Records[Name], Fields[Name]>
              : Services[Name]
            : Services[Name];
        }
      >
    : never;

type ServiceWith<Procedures, Row, Fields extends z.ZodObject> = {
  [Name in keyof Procedures]: Procedures[Name] extends TRPCQueryProcedure<infer Of>
    ? TRPCQueryProcedure<{ input: Of['input']; output: ShownIn<Of['output'], Row, Shown<Fields>>; meta: Of['meta'] }>
    : Procedures[Name] extends TRPCMutationProcedure<infer Of>
      ? TRPCMutationProcedure<{
          input: InputWith<Name, Of['input'], Fields>;
          output: ShownIn<Of['output'], Row, Shown<Fields>>;
          meta: Of['meta'];
        }>
      : Procedures[Name];
};

/** Fields in answers: null where a record has none. */
type Shown<Fields extends z.ZodObject> = {
  [Name in keyof Fields['shape']]: NonNullable<z.output<Fields['shape'][Name]>> | null;
};

/** Fields in a change: null clears one that may be left out. */
type Patch<Fields extends z.ZodObject> = {
  [Name in keyof z.input<Fields>]?: undefined extends z.input<Fields>[Name]
    ? z.input<Fields>[Name] | null
    : z.input<Fields>[Name];
};

type InputWith<Name, Input, Fields extends z.ZodObject> = Name extends 'create'
  ? Input & z.input<Fields>
  : Name extends 'createMany'
    ? { [Key in keyof Input]: Input[Key] extends (infer One)[] ? (One & z.input<Fields>)[] : Input[Key] }
    : Name extends 'patch'
      ? Input & Patch<Fields>
      : Name extends 'patchMany'
        ? { [Key in keyof Input]: Key extends 'data' ? Input[Key] & Patch<Fields> : Input[Key] }
        : Input;

/** A type with more fields in each of these records, at any depth. */
type ShownIn<Answer, Row, Fields> = Answer extends Row
  ? Answer & Fields
  : Answer extends (infer One)[]
    ? ShownIn<One, Row, Fields>[]
    : Answer extends object
      ? { [Key in keyof Answer]: ShownIn<Answer[Key], Row, Fields> }
      : Answer;
