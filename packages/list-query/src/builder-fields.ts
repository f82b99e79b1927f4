import type { FieldSettings, FieldType, ScalarType } from './fields.js';
import type { ListResource } from './resource.js';

/** Fields visible at some place of a query, with their types. */
export type BuilderFields = Record<string, FieldType | 'open'>;

/** The fields of a resource: `FieldsOf<typeof products>`. */
export type FieldsOf<Resource> =
  Resource extends ListResource<infer Declared>
    ? {
        [Name in keyof Declared as Declared[Name] extends { open: true } ? `${Name & string}.${string}` : Name]: TypeOf<
          Declared[Name]
        >;
      } & ('id' extends keyof Declared ? unknown : { id: 'string' })
    : never;

type TypeOf<Declared> = Declared extends { open: true } ? 'open' : Declared extends FieldSettings ? Declared['type'] : Declared;

/** Names of fields of some types. */
export type NamesOf<Fields, Type> = { [Name in keyof Fields & string]: Fields[Name] extends Type ? Name : never }[keyof Fields &
  string];

/** A type's value in an answer: dates are ISO-8601 text. */
export type Shown<Type> = Type extends 'number' ? number : Type extends 'boolean' ? boolean : string;

/** The TypeScript type of each kind of literal. */
export interface LiteralValues {
  string: string;
  number: number;
  boolean: boolean;
  date: Date;
  null: null;
}
export type LiteralValue = LiteralValues[keyof LiteralValues];

/** The literal kind of a value. */
export type KindOf<Value> = Value extends string
  ? 'string'
  : Value extends number
    ? 'number'
    : Value extends boolean
      ? 'boolean'
      : Value extends Date
        ? 'date'
        : 'null';

/** The literal kinds that a field may be compared with; a date also with its text. */
type KindsFor<Type> =
  | 'null'
  | (Type extends 'open' ? 'string' | 'number' | 'boolean' : never)
  | (Type extends 'string' | 'string[]' ? 'text' : never)
  | (Type extends `${infer Scalar extends ScalarType}[]` ? Scalar : Type)
  | (Type extends 'date' | 'date[]' ? 'string' : never);

/** A comparison of a condition: the field, and the kinds of values; `text` where a function needs a text. */
export type Use = readonly [name: string, kind: keyof LiteralValues | 'text'];

/** The comparisons that fields allow. */
export type UsesOf<Fields> = { [Name in keyof Fields & string]: readonly [Name, KindsFor<Fields[Name]>] }[keyof Fields & string];

/** `{ brand: { name: Value } }` for `brand.name`. */
export type Nested<Name extends string, Value> = Name extends `${infer First}.${infer Rest}`
  ? { [Key in First]: Nested<Rest, Value> }
  : { [Key in Name]: Value };

/** Merges an intersection into one object type, at every depth. */
export type Merged<Type> = Type extends readonly unknown[] | string | number | boolean | null
  ? Type
  : { [Key in keyof Type]: Merged<Type[Key]> };

export type Intersection<Union> = (Union extends unknown ? (value: Union) => void : never) extends (value: infer All) => void
  ? All
  : never;
