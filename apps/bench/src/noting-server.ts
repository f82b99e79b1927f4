import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineErrors, notGuest, router } from '@tandem/core';
import {
  Id,
  Text,
  createRoute,
  createTandem,
  defineRecord,
  defineService,
  field,
  madeIn,
  type StoredFields,
} from '@tandem/services';
import { defineModel, newId, openStorage, present, type Live } from '@tandem/storage';
import express from 'express';
import { z } from 'zod';
import { runMeasured } from './measured-child.js';

/** A service of notes, with or without events. */
function defineNotes<Name extends string>(name: Name, { hasEvents }: { hasEvents: boolean }) {
  const record = defineRecord(name, { fields: { text: field(Text.describe('What it says.')) } });
  type NoteRecord = Live & StoredFields<typeof record>;
  const model = defineModel<NoteRecord>(name, {
    fields: record.stored,
    indexes: [],
    ...(hasEvents && { traced: { kind: name } }),
  });
  const errors = defineErrors(name, { notFound: [404, 'Note not found'] });
  const idInput = z.strictObject({ noteId: Id });
  const note = { one: 'note', many: 'notes', output: record.schema.meta({ id: name }), idInput, errors };
  return defineService({
    name,
    description: 'Notes of the benchmark.',
    lists: {},
    errors: { [name]: errors },
    create({ storage }) {
      const Notes = storage.model(model);
      return {
        [name]: {
          async create(given: { text: string }, _id = newId(storage.clock)) {
            return present<NoteRecord>((await Notes.create({ _id, ...given })).toObject());
          },
          made: madeIn(Notes, present<NoteRecord>),
        },
      };
    },
    router(services) {
      const service = services[name] as NonNullable<(typeof services)[string]>;
      return router({
        create: createRoute(note, `POST /${name}`, z.strictObject(record.given), {
          made: service.made,
          allow: [notGuest],
        }).mutation(({ ctx, input }) => service.create(input, ctx.newId?.())),
      });
    },
  });
}

/** A host application with two services that differ in their events alone. */
await runMeasured(async () => {
  const { MONGODB_URI: uri = '', AUTH_ENC_SECRET: authEncSecret = '', AUTH_SIGN_SECRET: authSignSecret = '' } = process.env;
  const storage = await openStorage({ uri });
  const tandem = await createTandem({
    storage,
    authSecrets: { authEncSecret, authSignSecret },
    ownServices: [defineNotes('notes', { hasEvents: true }), defineNotes('quietnotes', { hasEvents: false })],
  });
  await storage.ensureIndexes();
  tandem.start();
  const app = express().use(tandem.routes(), ...tandem.errorMiddlewares());
  const server = http.createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await tandem.close();
      await storage.close();
    },
  };
});
