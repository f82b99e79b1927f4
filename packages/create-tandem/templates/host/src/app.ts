import { withDeadline, type Log } from '@tandem/core';
import { startEmbeddedMongo, type EmbeddedMongoEvent } from '@tandem/embedded-mongo';
import { createTandem } from '@tandem/services';
import { openStorage, type Storage } from '@tandem/storage';
import express from 'express';
import { consoleLog } from './log.js';
import type { Settings } from './settings.js';
import { tasks } from './tasks.js';

/** How long the database may take for an application that counts as healthy, in milliseconds. */
const HEALTHY_MS = 2000;

const createServices = (storage: Storage, log: Log, authSecrets: Settings['secrets']) =>
  createTandem({ storage, log, authSecrets, ownServices: [tasks] });

/** For `createTandemClient<AppRouter>` in front ends. */
export type AppRouter = Awaited<ReturnType<typeof createServices>>['router'];

/** The Express application, ready to listen, and what closes it. */
export async function createApp(
  { dataDir, mongodbUri, trustProxy, secrets, firstAdmin }: Omit<Settings, 'port'>,
  log = consoleLog,
) {
  // a full disk ends the engine; it is started again until there is room
  const onEvent = (event: EmbeddedMongoEvent) => {
    if (event.type !== 'started') log.warn({ reason: event.error.message }, 'the embedded database ended');
  };
  const engine = mongodbUri === undefined ? await startEmbeddedMongo({ dir: dataDir, onEvent }) : undefined;
  const storage = await openStorage({ uri: mongodbUri ?? engine?.uri ?? '', log });
  const tandem = await createServices(storage, log, secrets);
  await storage.ensureIndexes();
  // `taken`: it may be anybody's account, so that only a person can know
  if (firstAdmin && (await tandem.services.authentication.ensureAdmin(firstAdmin)) === 'taken')
    log.warn({}, 'there is no admin: the account of BOOTSTRAP_ADMIN_EMAIL is none');
  // what works in the background, such as finishing what a crash has interrupted
  tandem.start();

  const app = express();
  // limits count callers by their addresses
  app.set('trust proxy', trustProxy);
  app.get('/health', async (_request, response) => {
    const ok = await withDeadline(HEALTHY_MS, storage.ping()).then(
      () => true,
      () => false,
    );
    response.status(ok ? 200 : 503).json({ ok });
  });
  app.get('/openapi.json', async (_request, response) => {
    response.json(await tandem.openApi({ title: 'My application', description: '', version: '1', url: '/' }));
  });
  app.use(tandem.routes());
  // your own routes come here; `tandem.isAuthenticated` guards them
  app.use(...tandem.errorMiddlewares());

  return {
    app,
    tandem,
    /** Call it before the HTTP server is closed, which waits for open streams. */
    closeStreams: tandem.closeStreams,
    async close(): Promise<void> {
      await tandem.close();
      await storage.close();
      await engine?.stop();
    },
  };
}
