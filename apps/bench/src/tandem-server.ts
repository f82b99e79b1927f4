import { createLog, createServer, readConfig } from '@tandem/server';
import { runMeasured } from './measured-child.js';

/** Sessions begun at once. */
const AT_ONCE = 20;

/**
 * The server under test, as `tandem serve` starts it: request log on standard output, metrics, security headers,
 * request ids.
 */
await runMeasured(async () => {
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel, readable: false });
  const server = createServer(config, { log });
  const { url, tandem } = await server.start();

  /** Begins a session for each identity without its password: hashing those of a crowd would take hours. */
  async function signIn(ids: readonly string[]): Promise<string[]> {
    const tokens: string[] = [];
    const begin = async (id: string) => (await tandem.services.sessions.start(id, 0, { ip: '', userAgent: '', fingerprintHash: undefined })).accessToken; // prettier-ignore
    for (let from = 0; from < ids.length; from += AT_ONCE)
      tokens.push(...(await Promise.all(ids.slice(from, from + AT_ONCE).map(begin))));
    return tokens;
  }
  return { url, close: () => server.close(), handlers: { signIn } };
});
