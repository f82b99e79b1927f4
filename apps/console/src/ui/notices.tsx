import type { ReactNode } from 'react';
import { failureText } from './failure-text.js';

/** Shows what went wrong, and announces it to screen readers. */
export function Failure({ of, retry }: { of: unknown; retry?: (() => void) | undefined }) {
  if (of === null || of === undefined) return null;
  return (
    <div className="notice notice-bad" role="alert">
      <span>{failureText(of)}</span>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Good({ children }: { children: ReactNode }) {
  return <output className="notice notice-good">{children}</output>;
}

export function Loading({ what }: { what: string }) {
  return (
    <output className="loading">
      <span className="spinner" aria-hidden="true" /> Loading {what}…
    </output>
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
