import { once } from 'node:events';
import net from 'node:net';
import { expect, it } from 'vitest';
import { driverConnectionClass, endWaitsForClosedSockets } from './closing-sockets.js';
import { isStoreUnavailable } from './index.js';

const DriverConnection = driverConnectionClass();

it('a command on a closing connection fails, where the driver alone would wait for ever', async () => {
  endWaitsForClosedSockets();
  const server = net.createServer((socket) => void socket.on('data', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const connection = new DriverConnection(socket, { id: 1, hostAddress: `127.0.0.1:${port}`, generation: 0 });

  socket.destroy();
  // it does not know yet
  expect(connection.closed).toBe(false);
  const failure = await connection.command({ db: 'admin' }, { hello: 1 }, {}).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(isStoreUnavailable(failure)).toBe(true);
  server.close();
});
