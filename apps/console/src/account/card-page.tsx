import type { ReactNode } from 'react';
import { Brand } from '../ui/brand.js';
import { useTitle } from '../ui/title.js';
import { LanguageChoice } from '../ui/language.js';
import { ThemeButton } from '../ui/theme.js';

/** A page with a single task, for signed-out visitors. */
export function CardPage({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title);
  return (
    <div className="card-page">
      <main className="card">
        <p className="brand">
          <Brand />
        </p>
        <h1>{title}</h1>
        {children}
      </main>
      <footer className="card-choices">
        <LanguageChoice />
        <ThemeButton />
      </footer>
    </div>
  );
}
