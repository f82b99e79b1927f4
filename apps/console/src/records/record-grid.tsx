import { Link } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef, type ReactNode } from 'react';
import { Icon } from '../ui/icons.js';
import type { Row } from './call.js';
import type { Kind } from './definitions.js';
import { LOOKS } from './kinds.js';
import { Value, pictureOf, valueAt } from './values.js';
import { titleOf } from './words.js';

interface RecordGridProps {
  label: string;
  rows: readonly Row[];
  columns: readonly string[];
  kind: Kind;
  addressOf(row: Row): string | undefined;
  renderActions(row: Row): ReactNode;
  loadMore(): void;
}

/** Records that have pictures as cards; the next page is loaded before their end is reached. */
export function RecordGrid({ label, rows, columns, kind, addressOf, renderActions, loadMore }: RecordGridProps) {
  const end = useRef<HTMLParagraphElement>(null);
  const more = useEffectEvent(loadMore);
  const loaded = rows.length;
  useEffect(() => {
    const { current } = end;
    if (!current) return undefined;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && more(), { rootMargin: '100%' });
    observer.observe(current);
    return () => observer.disconnect();
    // once more after each page, whose end may be in view already
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
  }, [loaded]);
  const [, second = ''] = columns;
  return (
    <>
      <ul className="record-cards" aria-label={label}>
        {rows.map((row) => {
          const picture = pictureOf(row, LOOKS[kind.name]?.picture);
          const value = valueAt(row, second);
          return (
            <li key={String(row['id'])} className="record-card">
              <Link to={addressOf(row) ?? '.'} className="row-link">
                {picture === undefined ? <Icon name="image" /> : <img src={picture} alt="" loading="lazy" />}
                <span>{titleOf(row)}</span>
              </Link>
              <span className="record-card-foot">
                <Value value={value} field={second} row={row} kind={kind} />
                {renderActions(row)}
              </span>
            </li>
          );
        })}
      </ul>
      <p ref={end} aria-hidden="true" />
    </>
  );
}
