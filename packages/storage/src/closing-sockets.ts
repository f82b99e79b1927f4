import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import mongoose from 'mongoose';

/** Internals of a driver connection. */
interface DriverConnection {
  socket: Socket;
  closed: boolean;
  command(namespace: { db: string }, command: object, options: object): Promise<object>;
  writeCommand(...given: unknown[]): Promise<void>;
}

/** The driver's internal class, from the copy that Mongoose uses: no public API leads to it. */
export function driverConnectionClass(): new (socket: Socket, options: object) => DriverConnection {
  const ofMongoose = createRequire(createRequire(import.meta.url).resolve('mongoose'));
  return (ofMongoose('mongodb/lib/cmap/connection.js') as { Connection: ReturnType<typeof driverConnectionClass> }).Connection;
}

let isDone = false;

/**
 * Works around a driver bug: while a write waits for `drain`, the driver listens only for errors, so it waits for ever
 * on a socket that the other side has closed. If that is its monitoring connection, it never notices that the server is
 * back, and every operation fails until the process restarts.
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
