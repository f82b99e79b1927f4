import react from '@vitejs/plugin-react';
import type { ProxyOptions } from 'vite';
import { defineConfig } from 'vitest/config';

/** The Tandem server that the page calls. */
const target = process.env.TANDEM_URL ?? 'http://localhost:3001';

/** Passes calls on, so that page and server have one origin, as behind a proxy in production. */
const proxy: ProxyOptions = {
  target,
  ws: true,
  configure(server) {
    server.on('error', (_error, _request, response) => {
      const message = `There is no Tandem server at ${target}. Start one there, or set TANDEM_URL.`;
      // a stream has no answer, and connects again by itself
      if (!('writeHead' in response)) response.destroy();
      else response.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
    });
  },
};

export default defineConfig({
  plugins: [react()],
  server: {
    port: Number(process.env.PORT ?? 3000),
    strictPort: true,
    proxy: { '/trpc': proxy, '/messages/listen': proxy, '/notifications/listen': proxy, '/files': proxy },
  },
  test: { environment: 'happy-dom' },
});
