import { once } from 'node:events';
import net from 'node:net';
import { expect, it } from 'vitest';
import { driverConnectionClass, endWaitsForClosedSockets } from './closing-sockets.js';
import { isStoreUnavailable } from './index.js';

const DriverConnection = driverConnectionClass();

/** A driver connection to a server that never answers. */
async function connect() {
  endWaitsForClosedSockets();
  const server = net.createServer((socket) => void socket.on('data', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const connection = new DriverConnection(socket, { id: 1, hostAddress: `127.0.0.1:${port}`, generation: 0 });
  const failureOfCommand = () =>
    connection.command({ db: 'admin' }, { hello: 1 }, {}).then(
      () => undefined,
      (error: unknown) => error,
    );
  return { socket, connection, failureOfCommand, [Symbol.dispose]: () => void server.close() };
}

it('a command on a closing connection fails, where the driver alone would wait for ever', async () => {
  using connected = await connect();
  connected.socket.destroy();
  // it does not know yet
  expect(connected.connection.closed).toBe(false);
  const failure = await connected.failureOfCommand();
  expect(isStoreUnavailable(failure)).toBe(true);
  expect(failure).toMatchObject({ message: 'the connection closed before a command was written' });
});

it('a command that was written before the connection closes fails as the driver decides', async () => {
  using connected = await connect();
  const failing = connected.failureOfCommand();
  const errors: unknown[] = [];
  connected.socket.on('error', (error) => errors.push(error));
  await new Promise((written) => connected.socket.write('', written));
  connected.socket.destroy();
  expect(isStoreUnavailable(await failing)).toBe(true);
  expect(errors).toEqual([]);
});

it('each socket is watched once, whatever number of commands it is used for and storages are opened', async () => {
  const { writeCommand } = DriverConnection.prototype as { writeCommand: unknown };
  using connected = await connect();
  expect((DriverConnection.prototype as { writeCommand: unknown }).writeCommand).toBe(writeCommand);
  const listeners = connected.socket.listenerCount('close');
  const failing = [connected.failureOfCommand(), connected.failureOfCommand()];
  expect(connected.socket.listenerCount('close')).toBe(listeners + 1);
  connected.socket.destroy();
  await Promise.all(failing);
});
