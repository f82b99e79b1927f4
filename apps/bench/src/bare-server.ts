import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import bcrypt from 'bcrypt';
import express, { type Express } from 'express';
import { MongoClient, type Db } from 'mongodb';
import { WebSocketServer } from 'ws';
import { BARE_ROWS, type BareRow, type StoredNotification } from './collections.js';
import { countSteadily } from './load.js';
import { runMeasured } from './measured-child.js';
import type { Stored } from './rows.js';

const MONGODB_POOL = 8;
const PAGE = 10;
const LIFETIME_MS = 14 * 24 * 60 * 60_000;

/**
 * A handwritten server with the same answers: only Express and the driver, without sign-in, validation, log, metrics,
 * security headers or request ids. Express defaults that the server under test does not have (ETags, query parsing) are
 * off here too.
 */
function createBareApp(db: Db): Express {
  const notifications = db.collection<StoredNotification>('notifications');
  const products = db.collection<Stored>('products');
  const files = db.collection<Stored>('files');
  const rows = db.collection<BareRow>(BARE_ROWS);
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);

  app.get('/notifications/identities/:identityId', async (req, res) => {
    const filter = { receiverId: req.params.identityId, deletedAt: null };
    const [records, total] = await Promise.all([
      notifications.find(filter).sort({ createdAt: -1, _id: -1 }).limit(PAGE).toArray(),
      notifications.countDocuments(filter),
    ]);
    const data = records.map(({ _id, deletedAt, ...shown }) => ({ id: _id, ...shown }));
    const totalPages = Math.ceil(total / PAGE);
    const pagination = { page: 1, limit: PAGE, total, totalPages, hasNext: totalPages > 1, hasPrev: false };
    res.json({ data, metadata: { pagination } });
  });

  app.get('/products', async (_req, res) => {
    const filter = { deletedAt: null };
    const hidden = { deletedAt: 0, deletionId: 0, writer: 0, search: 0, trace: 0 };
    const [records, total] = await Promise.all([
      products.find(filter, { projection: hidden }).sort({ createdAt: -1, _id: -1 }).limit(PAGE).toArray(),
      products.countDocuments(filter),
    ]);
    const ofPage = { purpose: 'product-image', resourceId: { $in: records.map(({ _id }) => _id) }, state: 'attached' };
    const found = await files.find(ofPage).sort({ attachedAt: 1, _id: 1 }).toArray();
    const data = records.map(({ _id, ...shown }) => ({
      id: _id,
      ...shown,
      images: found.filter(({ resourceId }) => resourceId === _id),
    }));
    const totalPages = Math.ceil(total / PAGE);
    const pagination = { page: 1, limit: PAGE, total, totalPages, hasNext: totalPages > 1, hasPrev: false };
    res.json({ data, metadata: { pagination } });
  });

  app.post('/notifications/:notificationId/read', async (req, res) => {
    const { notificationId: _id } = req.params;
    const found = await notifications.findOne({ _id, deletedAt: null }, { projection: { receiverId: 1 } });
    if (found?.receiverId !== req.headers['x-receiver']) throw new Error('not the receiver');
    await notifications.updateOne({ _id, deletedAt: null }, { $set: { isRead: true, updatedAt: new Date() } });
    res.status(204).end();
  });

  app.post('/auth/token/refresh', express.json(), async (req, res) => {
    const { refreshToken: _id } = req.body as { refreshToken: string };
    const now = new Date();
    const next = createBareRow(now);
    await rows.updateOne({ _id }, { $set: { successor: next._id, lastUsedAt: now } });
    await rows.insertOne(next);
    res.json({ accessToken: randomUUID(), refreshToken: next._id });
  });

  app.post('/auth/login', express.json(), async (req, res) => {
    const { email, password } = req.body as { email: string; password: string };
    const found = await db.collection('identities').findOne({ email, deletedAt: null });
    if (!found || !(await bcrypt.compare(password, String(found['passwordHash'])))) throw new Error('wrong credentials');
    const session = { ...createBareRow(new Date()), identityId: String(found._id) };
    await rows.insertOne(session);
    res.json({ accessToken: randomUUID(), refreshToken: session._id });
  });

  app.post('/messages', express.json(), async (req, res) => {
    const now = new Date();
    const message = { _id: randomUUID(), ...(req.body as object), createdAt: now, updatedAt: now };
    await db.collection<{ _id: string }>('bareMessages').insertOne(message);
    const { _id: id, ...shown } = message;
    res.status(201).json({ id, ...shown });
  });
  return app;
}

/** Sends every message to all connected sockets. */
function broadcast(server: http.Server): void {
  const sockets = new WebSocketServer({ server, path: '/broadcast', perMessageDeflate: false });
  sockets.on('connection', (socket) => {
    socket.on('message', (text: Buffer) => {
      for (const client of sockets.clients) client.send(text, { binary: false });
    });
  });
}

/** As many bytes as a session of the server under test. */
function createBareRow(now: Date): BareRow {
  return {
    _id: randomUUID(),
    identityId: randomUUID(),
    jti: randomUUID(),
    successor: null,
    epoch: 0,
    fingerprintHash: null,
    ip: '127.0.0.1',
    userAgent: '',
    lastUsedAt: now,
    expiresAt: new Date(now.getTime() + LIFETIME_MS),
    createdAt: now,
    updatedAt: now,
  };
}

await runMeasured(async () => {
  const client = new MongoClient(process.env.MONGODB_URI ?? '', { maxPoolSize: MONGODB_POOL });
  await client.connect();
  const db = client.db();
  const server = http.createServer(createBareApp(db));
  broadcast(server);
  await new Promise<void>((resolve) => server.listen(Number(process.env.PORT), '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await client.close();
    },
    handlers: {
      /** Creates rows to refresh, and returns their ids. */
      async makeRows(count: number) {
        const made = Array.from({ length: count }, () => createBareRow(new Date()));
        await db.collection<BareRow>(BARE_ROWS).insertMany(made);
        return made.map(({ _id }) => _id);
      },
      hash: ({ password, cost }: { password: string; cost: number }) => bcrypt.hash(password, cost),
      /** Compares repeatedly, `atOnce` concurrently, and counts `count` comparisons. */
      async compare({ password, hash, count, atOnce }: { password: string; hash: string; count: number; atOnce: number }) {
        const compared = countSteadily(count, atOnce);
        const repeat = () => compared.repeat(() => bcrypt.compare(password, hash));
        await Promise.all(Array.from({ length: atOnce }, repeat));
        return compared.result();
      },
    },
  };
});
