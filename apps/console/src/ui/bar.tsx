import type { ReactNode } from 'react';

/** The bar at the top of a page, after a link that skips it. */
export function Bar({ brand, children }: { brand: ReactNode; children: ReactNode }) {
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="bar">
        {brand}
        <div className="whoami">{children}</div>
      </header>
    </>
  );
}
