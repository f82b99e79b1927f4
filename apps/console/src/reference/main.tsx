import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { createTabTokens } from '../session/tab-tokens.js';
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
    root.render(
      <StrictMode>
        <Router base="/docs">
          <Page reference={reference} tokens={tokens} />
        </Router>
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
