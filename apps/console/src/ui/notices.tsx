import type { ReactNode } from 'react';
import { Button } from './button.js';
import { failureText } from './failure-text.js';
import { t } from '../texts/texts.js';

interface FailureProps {
  of: unknown;
  retry?: (() => void) | undefined;
  /** What follows from it, said first. */
  children?: string;
}

/** Shows what went wrong, and announces it to screen readers. */
export function Failure({ of, retry, children }: FailureProps) {
  if (of === null || of === undefined) return null;
  return (
    <div className="notice notice-bad" role="alert">
      <span>{children === undefined ? failureText(of).trim() : `${children} ${failureText(of)}`}</span>
      {retry && <Button onClick={retry}>{t('ui.tryAgain')}</Button>}
    </div>
  );
}

/** Something to know that is neither good nor bad. */
export function Note({ children }: { children: ReactNode }) {
  return <output className="notice notice-plain">{children}</output>;
}

export function Good({ children }: { children: ReactNode }) {
  return <output className="notice notice-good">{children}</output>;
}

interface LoadingProps {
  what: string;
  /** Grey lines in the place of what comes, and the parts of each. */
  lines?: number;
  parts?: number;
}

/** Says what is loading, and keeps its place. */
export function Loading({ what, lines = 3, parts = 1 }: LoadingProps) {
  return (
    <div className="skeleton">
      <output className="loading">
        <span className="spinner" aria-hidden="true" /> {t('ui.loading', { what })}
      </output>
      {Array.from({ length: lines }, (_, line) => (
        <p key={line} aria-hidden="true">
          {Array.from({ length: parts }, (_part, part) => (
            <span key={part} />
          ))}
        </p>
      ))}
    </div>
  );
}

/** Shown in place of an empty list. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
