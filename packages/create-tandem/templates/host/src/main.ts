import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '@tandem/core';
import { createApp } from './app.js';
import { readSettings } from './settings.js';

async function start(): Promise<void> {
  const settings = readSettings(process.env);
  const { app, tandem, close } = await createApp(settings);
  // longer than proxies keep idle connections: one that is closed as a request comes loses it
  const server = createServer({ keepAliveTimeout: 65_000, headersTimeout: 66_000 }, app);
  server.on('upgrade', tandem.handleUpgrades(app));
  try {
    server.listen(settings.port);
    await once(server, 'listening');
  } catch (error) {
    await close();
    throw error;
  }
  console.log(`listening on http://localhost:${(server.address() as AddressInfo).port}`);

  let isStopping = false;
  // the last answer on a connection: a proxy would go on to use it
  server.prependListener('request', (_request, response) => {
    if (isStopping) response.shouldKeepAlive = false;
  });
  async function stop(): Promise<void> {
    isStopping = true;
    await tandem.closeStreams();
    server.close();
    const idle = setInterval(() => server.closeIdleConnections(), 100);
    const late = setTimeout(() => server.closeAllConnections(), 15_000);
    await once(server, 'close');
    clearInterval(idle);
    clearTimeout(late);
    await close();
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
}

try {
  await start();
} catch (error) {
  console.error(error instanceof Error ? error.message : error, ...(error instanceof ApiError ? [error.data] : []));
  // what is open already, such as the engine, would keep the process alive; the engine ends with it
  process.exit(1);
}
