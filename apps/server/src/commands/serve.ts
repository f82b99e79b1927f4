import { Command } from 'commander';
import { configurationAdvice } from '../config-findings.js';
import { readConfig } from '../config.js';
import { createServer } from '../create-server.js';
import { createLog } from '../logging.js';

/** `tandem serve`: runs until a signal stops it; a second signal stops it at once. */
export function createServeCommand(): Command {
  return new Command('serve').description('Run the server').action(async () => {
    const config = readConfig(process.env);
    const log = createLog({ level: config.logLevel, readable: config.development && process.stdout.isTTY });
    for (const advice of configurationAdvice(config)) log.warn({}, advice);
    const server = createServer(config, { log });
    let isStopping = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        log.info({ signal }, 'stopping');
        server.close().then(
          () => process.exit(0),
          (error: unknown) => {
            log.error({ err: error }, 'did not stop cleanly');
            process.exit(1);
          },
        );
      });
    }
    const { url } = await server.start();
    log.info({ url, docs: `${url}/docs`, ...(config.console && { console: `${url}/console` }) }, `listening on ${url}`);
  });
}
