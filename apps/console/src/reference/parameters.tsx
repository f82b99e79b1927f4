import type { Parameter, Resolve } from './document.js';
import { FIELD_USES, listFieldsOf, withoutFields, type ListField } from './list-fields.js';
import { Property } from './schema-view.js';

const PLACES = { path: 'In the path', query: 'In the query', header: 'Headers', cookie: 'Cookies' };

/** The parameters by place; a list's fields in a table of their own. */
export function Parameters({ parameters, resolve }: { parameters: Parameter[]; resolve: Resolve }) {
  const fields = listFieldsOf(parameters);
  return Object.entries(PLACES).map(([place, title]) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    if (here.length === 0) return null;
    return (
      <section key={place} aria-labelledby={`in-${place}`}>
        <h2 id={`in-${place}`}>{title}</h2>
        <ul className="properties">
          {here.map(({ name, required = false, deprecated = false, description = '', example, schema = {} }) => (
            <Property
              key={name}
              name={name}
              isRequired={required}
              isDeprecated={deprecated}
              description={name in FIELD_USES ? withoutFields(description) : description}
              example={example}
              schema={schema}
              resolve={resolve}
            />
          ))}
        </ul>
        {place === 'query' && fields.length > 0 && <Fields fields={fields} />}
      </section>
    );
  });
}

function Fields({ fields }: { fields: ListField[] }) {
  const uses = Object.entries(FIELD_USES);
  return (
    <table className="fields">
      <caption>Fields of this list</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Type</th>
          {uses.map(([parameter, use]) => (
            <th key={parameter} scope="col">
              {use}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, type, parameters }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>{type}</td>
            {uses.map(([parameter]) => (
              <td key={parameter}>{parameters.has(parameter) ? 'yes' : ''}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
