import type { DescribedOperation, Json, Parameter, Reference } from './openapi-types.js';

/** So many operations must have a parameter for it to be a component. */
const SHARED = 10;

/** A parameter with its description and example on itself, where readers and generators look. */
export function describedParameter(given: Parameter): Parameter {
  const { description, examples, deprecated, ...schema } = given.schema as {
    description?: string;
    examples?: unknown[];
    deprecated?: boolean;
  } & Json;
  const { name, in: place, required, schema: _, ...rest } = given;
  return {
    name,
    in: place,
    ...(required && { required }),
    ...(description !== undefined && { description }),
    ...(deprecated && { deprecated }),
    ...(examples && { example: examples[0] }),
    ...rest,
    schema,
  };
}

/** Replaces parameters that many operations have by references to components; returns the components. */
export function shareParameters(operations: readonly DescribedOperation[]): Record<string, Parameter> {
  const uses = new Map<string, Parameter[]>();
  for (const { parameters = [] } of operations)
    for (const parameter of parameters as Parameter[]) {
      const text = JSON.stringify(parameter);
      uses.set(text, [...(uses.get(text) ?? []), parameter]);
    }
  const components: Record<string, Parameter> = {};
  const references = new Map<Parameter | Reference, Reference>();
  for (const alike of uses.values()) {
    const [first] = alike;
    if (!first || alike.length < SHARED) continue;
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
