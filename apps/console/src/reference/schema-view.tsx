import { useState, type ReactNode } from 'react';
import type { Resolve, Schema } from './document.js';
import { flatten, limitsOf, objectsIn, typeText, valuesOf } from './schema-text.js';
import { Inline, Text } from './text.js';

/** The properties of a schema, and of each alternative. */
export function SchemaView({ schema, resolve }: { schema: Schema; resolve: Resolve }) {
  const objects = objectsIn(schema, resolve);
  return objects.map(({ title, schema: one }, n) => (
    <div key={n} className="alternative">
      {objects.length > 1 && <h3>{title ?? Object.keys(one.properties ?? {}).join(', ')}</h3>}
      <ul className="properties">
        {Object.entries(one.properties ?? {}).map(([name, property]) => (
          <SchemaProperty key={name} name={name} of={one} property={property} resolve={resolve} />
        ))}
      </ul>
    </div>
  ));
}

function SchemaProperty({ name, of, property, resolve }: { name: string; of: Schema; property: Schema; resolve: Resolve }) {
  const { description = '', deprecated = false } = flatten(property, resolve);
  return (
    <Property
      name={name}
      isRequired={of.required?.includes(name) ?? false}
      isDeprecated={deprecated}
      description={description}
      schema={property}
      resolve={resolve}
    >
      {objectsIn(property, resolve).length > 0 && (
        <Fold title={`Properties of ${name}`}>{() => <SchemaView schema={property} resolve={resolve} />}</Fold>
      )}
    </Property>
  );
}

/** So many values are shown only on request. */
const MANY_VALUES = 20;

interface PropertyProps {
  name: string;
  isRequired: boolean;
  isDeprecated: boolean;
  description: string;
  example?: unknown;
  schema: Schema;
  resolve: Resolve;
  children?: ReactNode;
}

/** A parameter or property: its type, what it means and what it may be. */
export function Property({ name, isRequired, isDeprecated, description, example, schema, resolve, children }: PropertyProps) {
  const flat = flatten(schema, resolve);
  const values = valuesOf(schema, resolve);
  const limits = limitsOf(flat);
  // a shared schema says what all its uses have in common
  const shared = schema.$ref !== undefined && flat.description !== description ? (flat.description ?? '') : '';
  return (
    <li className="property">
      <p>
        <code className="property-name">{name}</code> <span className="type">{typeText(schema, resolve)}</span>
        {isRequired && <span className="required"> required</span>}
        {isDeprecated && <span className="tag tag-bad">deprecated</span>}
        {limits.length > 0 && <span className="type">, {limits.join(', ')}</span>}
      </p>
      <Text of={description} />
      <Text of={shared} className="hint" />
      {values.length > MANY_VALUES ? (
        <Fold title={`One of ${values.length} values`}>{() => <Values of={values} />}</Fold>
      ) : (
        values.length > 0 && <Values of={values} />
      )}
      {example !== undefined && (
        <p className="hint">
          Example: <code>{typeof example === 'string' ? example : JSON.stringify(example)}</code>
        </p>
      )}
      {children}
    </li>
  );
}

function Values({ of: values }: { of: string[] }) {
  return (
    <p>
      <Inline of={values.map((value) => `\`${value}\``).join(' ')} />
    </p>
  );
}

/** Shows its content when it is opened, since schemas may contain themselves. */
function Fold({ title, children }: { title: string; children(): ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children()}
    </details>
  );
}
