import { RouterProvider, createRootRoute } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createTabTokens } from '../session/tab-tokens.js';
import { createPageRouter } from '../ui/routes.js';
import { applyTheme } from '../ui/theme.js';
import type { ApiDocument } from './document.js';
import { Page } from './page.js';
import { readReference } from './reference.js';

const tokens = createTabTokens();
const root = createRoot(document.querySelector('#page') as Element);

async function start(): Promise<void> {
  try {
    const answer = await fetch('/openapi.json');
    if (!answer.ok) throw new Error(`the answer to /openapi.json is ${answer.status}`);
    const reference = readReference((await answer.json()) as ApiDocument, location.origin);
    // one page shows every address: the operation is read from it
    const page = () => <Page reference={reference} tokens={tokens} />;
    const router = createPageRouter(createRootRoute({ component: page, notFoundComponent: page }), '/docs');
    root.render(
      <StrictMode>
        <RouterProvider router={router} />
      </StrictMode>,
    );
  } catch (error) {
    root.render(
      <main className="card-page">
        <div className="notice notice-bad" role="alert">
          The API cannot be shown: {(error as Error).message}
          <button type="button" onClick={() => void start()}>
            Try again
          </button>
        </div>
      </main>,
    );
  }
}

applyTheme();
void start();
