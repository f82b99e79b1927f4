import { startEmbeddedMongo } from '@tandem/embedded-mongo';
import { createTandem } from '@tandem/services';
import { openStorage, type Storage } from '@tandem/storage';
import express from 'express';
import type { Settings } from './settings.js';
import { tasks } from './tasks.js';

const createServices = (storage: Storage, authSecrets: Settings['secrets']) =>
  createTandem({ storage, authSecrets, ownServices: [tasks] });

/** For `createTandemClient<AppRouter>` in front ends. */
export type AppRouter = Awaited<ReturnType<typeof createServices>>['router'];

/** The Express application, ready to listen, and what closes it. */
export async function createApp({ dataDir, mongodbUri, trustProxy, secrets }: Omit<Settings, 'port'>) {
  const engine = mongodbUri === undefined ? await startEmbeddedMongo({ dir: dataDir }) : undefined;
  const storage = await openStorage({ uri: mongodbUri ?? engine?.uri ?? '' });
  const tandem = await createServices(storage, secrets);
  await storage.ensureIndexes();
  // what works in the background, such as finishing what a crash has interrupted
  tandem.start();

  const app = express();
  // limits count callers by their addresses
  app.set('trust proxy', trustProxy);
  app.get('/health', (_request, response) => void response.json({ ok: true }));
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
