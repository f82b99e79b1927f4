import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.js';
import { readSettings } from './settings.js';

async function start(): Promise<void> {
  const settings = readSettings(process.env);
  const { app, tandem, close } = await createApp(settings);
  const server = createServer(app);
  server.on('upgrade', tandem.handleUpgrades(app));
  try {
    server.listen(settings.port);
    await once(server, 'listening');
  } catch (error) {
    await close();
    throw error;
  }
  console.log(`listening on http://localhost:${(server.address() as AddressInfo).port}`);

  async function stop(): Promise<void> {
    await tandem.closeStreams();
    server.close();
    server.closeIdleConnections();
    await once(server, 'close');
    await close();
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
}

try {
  await start();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
