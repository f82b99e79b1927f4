import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { serveConnection } from '../src/serve-connection.js';
import { decodeReply, encodeCommand } from '../src/wire-protocol.js';
import { until } from './processes.js';

/** Both ends of a connection. */
async function openConnection(): Promise<{ client: Socket; socket: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => void client.destroy());
  return { client, socket };
}

test('a connection with 16 waiting commands is not read further until all are answered', async () => {
  const { client, socket } = await openConnection();
  const waiting: (() => void)[] = [];
  const reply = Buffer.from(encodeCommand({ ok: 1 }));
  serveConnection(socket, {
    roundTrip: () => Promise.resolve({ response: reply.subarray(21) } as never),
    ownCommands: new Map(),
    // the test decides when a command is done
    async enqueue(command) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return await command();
    },
  });
  let received = 0;
  client.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; at += chunk.readInt32LE(at)) {
      expect(decodeReply(chunk.subarray(at, at + chunk.readInt32LE(at)))).toEqual({ ok: 1 });
      received += 1;
    }
  });
  const request = encodeCommand({ ping: 1, $db: 'admin' });
  const send = async (count: number, read: number) => {
    for (let n = 0; n < count; n++) client.write(request);
    await until(() => socket.bytesRead === read * request.length);
  };
  await send(16, 16);
  expect(socket.isPaused()).toBe(false);
  await send(1, 17);
  expect(socket.isPaused()).toBe(true);

  // answers one after the other; reading resumes only after the last one
  const answerNext = async (count: number) => {
    await until(() => waiting.length > 0);
    waiting.shift()?.();
    await until(() => received === count);
  };
  for (let count = 1; count < 17; count++) await answerNext(count);
  expect(socket.isPaused()).toBe(true);
  await answerNext(17);
  await until(() => !socket.isPaused());
  await send(1, 18);
  await answerNext(18);
});
