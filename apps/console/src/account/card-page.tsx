import type { ReactNode } from 'react';
import { useTitle } from '../ui/title.js';
import { ThemeButton } from '../ui/theme.js';

/** A page with a single task, for signed-out visitors. */
export function CardPage({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title);
  return (
    <div className="card-page">
      <main className="card">
        <p className="brand">
          <img src={new URL('../icon.svg', import.meta.url).href} alt="" width="28" height="28" /> Tandem
        </p>
        <h1>{title}</h1>
        {children}
      </main>
      <ThemeButton />
    </div>
  );
}
