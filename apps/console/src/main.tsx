import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { describeFailure } from '@tandem/client';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { App } from './app.js';
import { SessionProvider } from './session/session.js';
import { createTabTokens } from './session/tab-tokens.js';
import { fetchSettings } from './settings.js';
import { Failure } from './ui/notices.js';
import { applyTheme } from './ui/theme.js';

/** Retries of a query without an answer. */
const RETRIES = 2;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // retrying what the server has refused is pointless
      retry: (failures, error) => failures < RETRIES && (describeFailure(error).status ?? 500) >= 500,
    },
  },
});

const tokens = createTabTokens();
const root = createRoot(document.querySelector('#page') as Element);

async function start(): Promise<void> {
  try {
    const settings = await fetchSettings();
    root.render(
      <StrictMode>
        <QueryClientProvider client={queries}>
          <SessionProvider settings={settings} tokens={tokens}>
            <Router base="/console">
              <App />
            </Router>
          </SessionProvider>
        </QueryClientProvider>
      </StrictMode>,
    );
  } catch (error) {
    root.render(
      <main className="card-page">
        <Failure of={error} retry={() => void start()} />
      </main>,
    );
  }
}

applyTheme();
void start();
