import type {
  AnyTRPCMutationProcedure,
  AnyTRPCProcedure,
  AnyTRPCQueryProcedure,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
  TRPCSubscriptionProcedure,
} from '@trpc/server';

/** The same type, without the names of the server's types. */
type Flat<Type> =
  Type extends AsyncIterable<infer Event>
    ? AsyncIterable<Flat<Event>>
    : Type extends object
      ? Type extends infer All
        ? { [Key in keyof All]: Flat<All[Key]> }
        : never
      : Type;

/** What a client knows of a procedure. Not an interface, whose name would stay in the declarations. */
type Definition<Procedure extends AnyTRPCProcedure> = {
  input: Flat<Procedure['_def']['$types']['input']>;
  output: Flat<Procedure['_def']['$types']['output']>;
  meta: unknown;
};

type FlatProcedures<Procedures> = {
  [Name in keyof Procedures]: Procedures[Name] extends AnyTRPCQueryProcedure
    ? TRPCQueryProcedure<Definition<Procedures[Name]>>
    : Procedures[Name] extends AnyTRPCMutationProcedure
      ? TRPCMutationProcedure<Definition<Procedures[Name]>>
      : Procedures[Name] extends AnyTRPCProcedure
        ? TRPCSubscriptionProcedure<Definition<Procedures[Name]>>
        : FlatProcedures<Procedures[Name]>;
};

/**
 * No value, but one whose type a module can keep: the compiler writes the types of values out in full in declarations,
 * those of types by name.
 */
export const flat = <Type>() => undefined as Flat<Type>;
/** The same for the procedures of a router, of which only input and output stay. */
export const flatProcedures = <Procedures>() => undefined as unknown as FlatProcedures<Procedures>;
