import { TandemProvider } from '@tandem/react';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { tokens } from './tokens.js';

const queries = new QueryClient({ defaultOptions: { queries: { staleTime: 10_000 } } });

createRoot(document.querySelector('#page') as Element).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <TandemProvider url={location.origin} tokens={tokens}>
        <App />
      </TandemProvider>
    </QueryClientProvider>
  </StrictMode>,
);
