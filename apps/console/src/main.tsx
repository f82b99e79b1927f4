import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './app.js';
import { SessionProvider } from './session/session.js';
import { createTabTokens } from './session/tab-tokens.js';
import { fetchSettings } from './settings.js';
import { Guarded } from './ui/boundary.js';
import { applyBrand } from './ui/brand.js';
import { keepFocus } from './ui/keep-focus.js';
import { Failure } from './ui/notices.js';
import { isPassing } from './ui/query-failure.js';
import { applyTheme } from './ui/theme.js';
import { startTexts } from './texts/texts.js';

/** Longest wait before a query without an answer is tried again, in milliseconds. */
const RETRY_MAX_MS = 5000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // until the server is back: views recover by themselves, and show meanwhile what they have
      retry: (_failures, error) => isPassing(error),
      retryDelay: (failures) => Math.min(1000 * 2 ** failures, RETRY_MAX_MS),
      // a server on this machine answers while the browser thinks it is offline
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

const tokens = createTabTokens();
const page = document.querySelector('#page') as Element;
const root = createRoot(page);

async function start(): Promise<void> {
  try {
    const [settings] = await Promise.all([fetchSettings(), startTexts()]);
    applyBrand(settings.brand);
    root.render(
      <StrictMode>
        <Guarded of={null}>
          <QueryClientProvider client={queries}>
            <SessionProvider settings={settings} tokens={tokens}>
              <RouterProvider router={router} />
            </SessionProvider>
          </QueryClientProvider>
        </Guarded>
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

// the view's own scripts load beside the settings
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const route = router.routesById[routeId];
  if (route) void router.loadRouteChunk(route);
}
applyTheme();
keepFocus(page);
void start();
