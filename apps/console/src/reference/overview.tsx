import { Link } from '@tanstack/react-router';
import { linkTo } from './finder.js';
import { Method } from './method.js';
import type { Reference } from './reference.js';
import { Inline, Text } from './text.js';

/** What the API is, and all operations. */
export function Overview({ reference }: { reference: Reference }) {
  const { title, version, description, url, services, schemes } = reference;
  const used = new Set(services.flatMap(({ operations }) => operations.flatMap((operation) => operation.schemes)));
  return (
    <>
      <header className="view-head">
        <h1>{title} API</h1>
        <span className="tag tag-plain">{version}</span>
      </header>
      <Text of={description} className="prose" />
      <dl className="facts">
        <div>
          <dt>Address</dt>
          <dd>
            <code>{url}</code>
          </dd>
        </div>
        {Object.entries(schemes)
          .filter(([name]) => used.has(name))
          .map(([name, scheme]) => (
            <div key={name}>
              <dt>Credentials: {name}</dt>
              <dd>
                <Inline of={scheme.description ?? ''} />
              </dd>
            </div>
          ))}
        <div>
          <dt>Document</dt>
          <dd>
            <a href="/openapi.json">OpenAPI 3.1</a>
          </dd>
        </div>
      </dl>
      {services.map((service) => (
        <section key={service.name} className="service" aria-labelledby={`service-${service.name}`}>
          <h2 id={`service-${service.name}`}>{service.name}</h2>
          <Text of={service.description} className="prose" />
          <ul className="rows">
            {service.operations.map((operation) => (
              <li key={operation.id}>
                <Link to={linkTo(operation)} className="operation-row">
                  <Method of={operation} />
                  <span className="operation-name">
                    {operation.summary} <code>{operation.path}</code>
                  </span>
                  <span className="who">{operation.who.join('; ')}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
