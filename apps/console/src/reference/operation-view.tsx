import { lazy, Suspense } from 'react';
import type { MemoryTokenStore } from '@tandem/client';
import { Answers } from './answers.js';
import { sampleCall } from './examples.js';
import { ExampleView } from './example-view.js';
import { Method } from './method.js';
import { Parameters } from './parameters.js';
import type { Operation, Reference } from './reference.js';
import { SchemaView } from './schema-view.js';
import { Inline, Text } from './text.js';
import { typeText } from './schema-text.js';

/** Loaded after the page, because few readers call. */
const CallView = lazy(async () => ({ default: (await import('./call-view.js')).CallView }));

interface OperationViewProps {
  operation: Operation;
  reference: Reference;
  tokens: MemoryTokenStore;
}

/** One operation: who may call it, what it takes and answers, and how to call it. */
export function OperationView({ operation, reference, tokens }: OperationViewProps) {
  const { summary, description, path, parameters, body } = operation;
  return (
    <article className="operation">
      <header>
        <p className="crumb">{operation.id}</p>
        <h1>{summary}</h1>
        <p className="route">
          <Method of={operation} /> <code>{path}</code>
        </p>
        <Text of={description} className="prose" />
        <Callers operation={operation} />
      </header>
      <div className="takes">
        <Parameters parameters={parameters} resolve={reference.resolve} />
        {body && (
          <section aria-labelledby="body">
            <h2 id="body">Body</h2>
            <p className="hint">
              {body.type}, {typeText(body.schema, reference.resolve)}
              {!body.required && ', optional'}
            </p>
            <SchemaView schema={body.schema} resolve={reference.resolve} />
          </section>
        )}
        <Answers answers={operation.answers} resolve={reference.resolve} />
      </div>
      <div className="example">
        <ExampleView operation={operation} reference={reference} />
        <Suspense>
          <CallView operation={operation} sample={sampleCall(operation, reference)} tokens={tokens} />
        </Suspense>
      </div>
    </article>
  );
}

function Callers({ operation: { who, isOpen, schemes } }: { operation: Operation }) {
  return (
    <dl className="facts">
      {who.length > 0 && (
        <div>
          <dt>Who may call it</dt>
          {who.map((condition, n) => (
            <dd key={condition}>
              {n > 0 && 'and '}
              <Inline of={condition} />
            </dd>
          ))}
        </div>
      )}
      <div>
        <dt>Credentials</dt>
        <dd>{schemes.length === 0 ? 'none' : `${schemes.join(' or ')}${isOpen ? ', optional' : ''}`}</dd>
      </div>
    </dl>
  );
}
