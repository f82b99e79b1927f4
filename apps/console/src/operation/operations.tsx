import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTitle } from '../ui/title.js';
import { useAct } from '../records/acts.js';
import { useDefinitions } from '../records/definitions.js';
import { useOffered } from '../records/offered.js';
import { createSearch } from '../reference/search.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Empty } from '../ui/notices.js';

/** Every operation that one may run, with a form of its own. */
export function OperationsPage() {
  useTitle('Operations');
  const { reference } = useDefinitions();
  const isOffered = useOffered();
  const act = useAct();
  const [typed, setTyped] = useState('');
  const found = typed.trim() === '' ? reference.services.flatMap(({ operations }) => operations) : createSearch(reference)(typed);
  const offered = found.filter((operation) => isOffered(operation, {}) && !operation.isOpen);
  return (
    <>
      <header className="view-head">
        <h1>Operations</h1>
        <a href="/docs">API reference</a>
      </header>
      <p className="lead">
        Whatever the server does, with a form. Records are changed more easily where they are shown,{' '}
        <Link to="/orders">orders</Link> for instance.
      </p>
      <Field
        label="Find an operation"
        type="search"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        autoComplete="off"
      />
      {offered.length === 0 && <Empty title="No such operation" />}
      <ul className="rows" aria-label="Operations">
        {offered.map((operation) => (
          <li key={operation.id} className="row">
            <div className="row-main">
              <p className="row-title">{operation.summary}</p>
              <p className="row-more">
                <a href={`/docs/${operation.id}`}>
                  <code>{operation.id}</code>
                </a>
              </p>
            </div>
            <Button
              aria-label={`Run ${operation.id}`}
              onClick={() => act({ operation, given: {}, text: 'Run', title: operation.id })}
            >
              Run
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}
