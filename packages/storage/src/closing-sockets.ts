import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import mongoose from 'mongoose';

/** What the driver keeps to itself of a connection. */
interface DriverConnection {
  socket: Socket;
  closed: boolean;
  command(namespace: { db: string }, command: object, options: object): Promise<object>;
  writeCommand(...given: unknown[]): Promise<void>;
}

/** The driver's own class, of the very copy that Mongoose uses: nothing public leads to it. */
export function driverConnectionClass(): new (socket: Socket, options: object) => DriverConnection {
  const ofMongoose = createRequire(createRequire(import.meta.url).resolve('mongoose'));
  return (ofMongoose('mongodb/lib/cmap/connection.js') as { Connection: ReturnType<typeof driverConnectionClass> }).Connection;
}

let isDone = false;

/**
 * Ends the driver's wait for a socket that closes. It waits for `drain` where a write cannot be taken at once, and hears of errors alone
 * meanwhile: on a socket that the other side has just ended it waits for ever. Where that befalls the connection by which it watches the
 * server, it never again finds that the server is back, and every operation fails until the process is started anew.
 */
export function endWaitsForClosedSockets(): void {
  if (isDone) return;
  isDone = true;
  const { prototype } = driverConnectionClass() as { prototype: DriverConnection };
  const { writeCommand } = prototype;
  const watched = new WeakSet<Socket>();
  prototype.writeCommand = function (this: DriverConnection, ...given) {
    const { socket } = this;
    if (!watched.has(socket)) {
      watched.add(socket);
      socket.once('close', () => {
        if (socket.listenerCount('drain') === 0) return;
        socket.emit('error', new mongoose.mongo.MongoNetworkError('the connection closed before a command was written'));
      });
    }
    return writeCommand.apply(this, given);
  };
}
