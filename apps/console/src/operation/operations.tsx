import { useState } from 'react';
import { linkTo } from '../ui/link-to.js';
import { useTitle } from '../ui/title.js';
import { useAct } from '../records/acts.js';
import { useDefinitions } from '../records/definitions.js';
import { useOffered } from '../records/offered.js';
import { createSearch } from '../reference/search.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Empty } from '../ui/notices.js';
import { t, term } from '../texts/texts.js';

/** Every operation that one may run, with a form of its own. */
export function OperationsPage() {
  useTitle(t('records.operations.title'));
  const { reference } = useDefinitions();
  const isOffered = useOffered();
  const act = useAct();
  const [typed, setTyped] = useState('');
  const all = reference.services.flatMap(({ operations }) => operations);
  // in the reader's words, and in those of the document
  const named = all.filter(({ id }) => term('operations', id)?.includes(typed.trim()));
  const found = typed.trim() === '' ? all : [...new Set([...named, ...createSearch(reference)(typed)])];
  const offered = found.filter((operation) => isOffered(operation, {}) && !operation.isOpen);
  return (
    <>
      <header className="view-head">
        <h1>{t('records.operations.title')}</h1>
        <a href="/docs">{t('records.operations.reference')}</a>
      </header>
      <p className="lead">{t.rich('records.operations.lead', { link: linkTo('/orders') })}</p>
      <Field
        label={t('records.operations.find')}
        type="search"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        autoComplete="off"
      />
      {offered.length === 0 && <Empty title={t('records.operations.none')} />}
      <ul className="rows" aria-label={t('records.operations.title')}>
        {offered.map((operation) => (
          <li key={operation.id} className="row">
            <div className="row-main">
              <p className="row-title">{term('operations', operation.id) ?? operation.summary}</p>
              <p className="row-more">
                <a href={`/docs/${operation.id}`}>
                  <code>{operation.id}</code>
                </a>
              </p>
            </div>
            <Button
              aria-label={t('records.operations.runOne', { id: operation.id })}
              onClick={() => act({ operation, given: {}, text: t('records.act.run'), title: operation.id })}
            >
              {t('records.act.run')}
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}
