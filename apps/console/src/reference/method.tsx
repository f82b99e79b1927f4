import type { Operation } from './reference.js';

/** The HTTP method. */
export function Method({ of: { method, deprecated } }: { of: Operation }) {
  return (
    <>
      <span className={`method method-${method.toLowerCase()}`}>{method}</span>
      {deprecated && <span className="tag tag-bad">deprecated</span>}
    </>
  );
}
