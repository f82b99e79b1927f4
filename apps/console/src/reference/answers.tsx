import type { Resolve } from './document.js';
import type { Answer } from './reference.js';
import { SchemaView } from './schema-view.js';
import { typeText } from './schema-text.js';

const isError = ({ status }: Answer) => /^[45]/.test(status);

/** What an operation answers: the content of success, the messages of each error. */
export function Answers({ answers, resolve }: { answers: Answer[]; resolve: Resolve }) {
  return (
    <section aria-labelledby="answers">
      <h2 id="answers">Answers</h2>
      {answers
        .filter((answer) => !isError(answer))
        .map(({ status, description, schema }) => (
          <div key={status} className="answer">
            <p>
              <span className="tag">{status}</span> {schema ? typeText(schema, resolve) : description}
            </p>
            {schema && <SchemaView schema={schema} resolve={resolve} />}
          </div>
        ))}
      <dl className="errors">
        {answers.filter(isError).map(({ status, description }) => (
          <div key={status}>
            <dt>
              <span className="tag tag-plain">{status}</span>
            </dt>
            {description.split('; ').map((message) => (
              <dd key={message}>{message}</dd>
            ))}
          </div>
        ))}
      </dl>
    </section>
  );
}
