import type { ReactNode } from 'react';

/** The sign beside a page's name. */
export function Logo() {
  return <img src={new URL('../icon.svg', import.meta.url).href} alt="" width="28" height="28" />;
}

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
