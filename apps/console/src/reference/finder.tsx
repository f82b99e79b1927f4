import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Method } from './method.js';
import type { Operation, Reference } from './reference.js';
import { createSearch } from './search.js';

interface FinderProps {
  reference: Reference;
  current: Operation | undefined;
  /** Whether it is shown where there is no room beside the content. */
  isOpen: boolean;
  open(): void;
}

/** All operations by service, and a search. The key `/` leads to it, arrows go through what it lists. */
export function Finder({ reference, current, isOpen, open }: FinderProps) {
  const [query, setQuery] = useState('');
  const search = useMemo(() => createSearch(reference), [reference]);
  const found = query.trim() === '' ? undefined : search(query);
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const nav = useRef<HTMLElement>(null);

  useEffect(() => {
    function jump(event: KeyboardEvent): void {
      const isTyping = (event.target as Element).closest('input, textarea, select, dialog') !== null;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      // it may only now become visible; the next key is meant for it
      flushSync(open);
      input.current?.focus();
      input.current?.select();
    }
    function move(event: KeyboardEvent): void {
      if (!nav.current?.contains(event.target as Node)) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === 'Escape') setQuery('');
      if (step === undefined) return;
      const stops = [...nav.current.querySelectorAll<HTMLElement>('input, a, summary')].filter((stop) => stop.checkVisibility());
      event.preventDefault();
      stops[stops.indexOf(document.activeElement as HTMLElement) + step]?.focus();
    }
    document.addEventListener('keydown', jump);
    document.addEventListener('keydown', move);
    return () => {
      document.removeEventListener('keydown', jump);
      document.removeEventListener('keydown', move);
    };
  }, [open]);

  useEffect(() => {
    if (current) nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);

  return (
    <nav id="operations" aria-label="Operations" className={isOpen ? 'open' : undefined} ref={nav}>
      <search>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (found?.[0]) void navigate({ to: linkTo(found[0]) });
          }}
        >
          <input
            ref={input}
            type="search"
            aria-label="Search the operations"
            placeholder="Search (press /)"
            value={query}
            onChange={(event) => setQuery(event.target.value)}
          />
          <output className={found ? 'hint' : 'unseen'}>
            {found && (found.length === 1 ? '1 operation' : `${found.length} operations`)}
          </output>
        </form>
      </search>
      {found ? (
        <ul>
          {found.map((operation) => (
            <Entry key={operation.id} operation={operation} isLong />
          ))}
        </ul>
      ) : (
        reference.services.map(({ name, operations }) => (
          <details key={name} open={current?.service === name || undefined}>
            <summary>
              {name} <span className="count">{operations.length}</span>
            </summary>
            <ul>
              {operations.map((operation) => (
                <Entry key={operation.id} operation={operation} />
              ))}
            </ul>
          </details>
        ))
      )}
    </nav>
  );
}

export const linkTo = ({ id }: Operation) => `/${encodeURIComponent(id)}`;

function Entry({ operation, isLong }: { operation: Operation; isLong?: boolean }) {
  return (
    <li>
      <Link to={linkTo(operation)}>
        <Method of={operation} />
        <span className="entry">
          {operation.summary}
          {isLong && <code>{operation.path}</code>}
        </span>
      </Link>
    </li>
  );
}
