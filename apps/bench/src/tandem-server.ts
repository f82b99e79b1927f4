import { createLog, createServer, readConfig } from '@tandem/server';
import { runMeasured } from './measured-child.js';

/**
 * The server under test, as `tandem serve` starts it: request log on standard output, metrics, security headers,
 * request ids.
 */
await runMeasured(async () => {
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel, readable: false });
  const server = createServer(config, { log });
  const { url } = await server.start();
  return { url, close: () => server.close() };
});
