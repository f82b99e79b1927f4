import type { MemoryTokenStore } from '@tandem/client';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Bar } from '../ui/bar.js';
import { Logo } from '../ui/brand.js';
import { ThemeButton } from '../ui/theme.js';
import { Finder } from './finder.js';
import { OperationView } from './operation-view.js';
import { Overview } from './overview.js';
import type { Reference } from './reference.js';

/** A part of the address, as it stands where somebody has mistyped it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The frame: the bar, all operations to choose from, and the chosen one. */
export function Page({ reference, tokens }: { reference: Reference; tokens: MemoryTokenStore }) {
  const { pathname: place } = useLocation();
  const id = decoded(place.slice(1));
  const operations = useMemo(() => reference.services.flatMap((service) => service.operations), [reference]);
  const operation = operations.find((one) => one.id === id);
  const [isFinding, setFinding] = useState(false);
  const content = useRef<HTMLElement>(null);
  const shown = useRef(place);

  useEffect(() => {
    document.title = `${operation?.summary ?? 'API'} · ${reference.title}`;
    if (shown.current === place) return;
    // like a page that was just loaded
    shown.current = place;
    setFinding(false);
    scrollTo(0, 0);
    content.current?.focus({ preventScroll: true });
  }, [operation, place, reference]);

  return (
    <div className="reference">
      <Bar
        brand={
          <Link to="/" className="brand">
            <Logo /> {reference.title} API
          </Link>
        }
      >
        <button
          type="button"
          className="finding"
          aria-expanded={isFinding}
          aria-controls="operations"
          onClick={() => setFinding(!isFinding)}
        >
          Operations
        </button>
        <ThemeButton />
      </Bar>
      <Finder reference={reference} current={operation} isOpen={isFinding} open={() => setFinding(true)} />
      <main id="content" tabIndex={-1} ref={content}>
        {operation ? (
          <OperationView key={operation.id} operation={operation} reference={reference} tokens={tokens} />
        ) : id === '' ? (
          <Overview reference={reference} />
        ) : (
          <div className="empty">
            <h1 className="empty-title">There is no operation {id}</h1>
            <Link to="/">All operations</Link>
          </div>
        )}
      </main>
    </div>
  );
}
