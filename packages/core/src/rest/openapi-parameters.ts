import { idText } from './openapi-schemas.js';
import type { DescribedOperation, Json, Parameter, Reference } from './openapi-types.js';

/** About what a reference to a component takes. */
const REFERENCE_BYTES = 50;

/** An example of a value: the schema's own, else one that follows from it. */
function exampleOf({ $ref, examples, enum: values, type, minimum = 1 }: Json, schemas: Readonly<Record<string, Json>>): unknown {
  if (Array.isArray(examples)) return examples[0];
  if (Array.isArray(values)) return values[0];
  if (type === 'integer' || type === 'number') return minimum;
  if (type === 'boolean') return true;
  const shared = typeof $ref === 'string' ? schemas[$ref.replace('#/components/schemas/', '')] : undefined;
  return shared && exampleOf(shared, schemas);
}

/**
 * A parameter with its description and example on itself, where readers and generators look.
 * @param schemas the components that its schema may refer to
 */
export function describedParameter(given: Parameter, schemas: Readonly<Record<string, Json>>): Parameter {
  const { description = idText(given.name), examples: _, deprecated, ...schema } = given.schema;
  const example = exampleOf(given.schema, schemas);
  return {
    name: given.name,
    in: given.in,
    ...(given.required && { required: true }),
    ...(deprecated === true && { deprecated }),
    ...(typeof description === 'string' && { description }),
    ...(example !== undefined && { example }),
    schema,
  };
}

/** Replaces parameters that several operations have by references to components where that is shorter; returns the components. */
export function shareParameters(operations: readonly DescribedOperation[]): Record<string, Parameter> {
  const uses = new Map<string, Parameter[]>();
  for (const { parameters = [] } of operations)
    for (const parameter of parameters as Parameter[]) {
      const text = JSON.stringify(parameter);
      uses.set(text, [...(uses.get(text) ?? []), parameter]);
    }
  const components: Record<string, Parameter> = {};
  const references = new Map<Parameter | Reference, Reference>();
  for (const [text, alike] of uses) {
    const [first] = alike;
    if (!first || (alike.length - 1) * text.length < (alike.length + 1) * REFERENCE_BYTES) continue;
    const base = first.name.replace(/[^\w.-]/g, '');
    let name = base;
    for (let n = 2; components[name]; n++) name = `${base}-${n}`;
    components[name] = first;
    for (const parameter of alike) references.set(parameter, { $ref: `#/components/parameters/${name}` });
  }
  for (const operation of operations)
    if (operation.parameters)
      operation.parameters = operation.parameters.map((parameter) => references.get(parameter) ?? parameter);
  return components;
}
