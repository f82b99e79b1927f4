import { authenticated, defineErrors, mergeRouters, rest, router } from '@tandem/core';
import { startEmbeddedMongo } from '@tandem/embedded-mongo';
import { createTandem, type Tandem } from '@tandem/services';
import { openStorage } from '@tandem/storage';
import express, { type Express } from 'express';
import { z } from 'zod';

const parcelErrors = defineErrors({ notFound: [404, 'Parcel not found'] });

interface ShopOptions {
  dataDir: string;
  /** 32 bytes at least, each. */
  authSecrets: { authEncSecret: string; authSignSecret: string };
}
interface Shop {
  app: Express;
  tandem: Tandem;
  close(): Promise<void>;
}

export async function createShop({ dataDir, authSecrets }: ShopOptions): Promise<Shop> {
  const engine = await startEmbeddedMongo({ dir: dataDir });
  const storage = await openStorage({ uri: engine.uri });
  const tandem = await createTandem({
    storage,
    authSecrets,
    authMode: 'bearer',
    identity: { typeIds: { admin: 'staff', guest: 'visitor', regular: 'customer' } },
    onetimeTokenExpireTime: '48h',
  });
  await storage.ensureIndexes();
  const stopSweeping = storage.startSweeping();

  // a router of the shop's own: one definition, both faces, in the OpenAPI document too
  const parcels = router({
    announce: authenticated
      .meta(
        rest('POST /parcels/{parcelId}/announcements', {
          status: 201,
          summary: 'Tell the buyer that a parcel is under way',
          failure: 'Failed to create announcement',
          errors: [parcelErrors.notFound],
        }),
      )
      .input(z.strictObject({ parcelId: z.string(), note: z.string().min(1) }))
      .output(z.object({ notificationId: z.string() }))
      .mutation(async ({ ctx, input }) => {
        if (input.parcelId !== 'p-1') throw parcelErrors.notFound();
        const { id } = await tandem.services.notifications.notify(ctx.identity.id, { kind: 'parcel', note: input.note });
        return { notificationId: id };
      }),
  });
  const shopRouter = mergeRouters(tandem.router, router({ parcels }));

  const app = express();
  app.use(tandem.routes(shopRouter));
  // a plain Express route of the shop's own, behind the same sign-in
  app.get('/whoami', tandem.isAuthenticated, (req, res) => {
    res.json((req as express.Request & { identity?: object }).identity);
  });
  app.get('/openapi.json', (_req, res) => {
    res.json(tandem.openApi({ title: 'Shop', description: 'A shop', version: '1', url: '/' }, shopRouter));
  });
  app.use(...tandem.errorMiddlewares());

  return {
    app,
    tandem,
    async close() {
      await tandem.close();
      await stopSweeping();
      await storage.close();
      await engine.stop();
    },
  };
}
