import { SocketReader, describeError, type Log, type StreamPlaces, type StreamSocket } from '@tandem/core';
import type { OwnFeeds } from './own-feeds.js';

interface OwnStreamOptions {
  feeds: OwnFeeds;
  places: StreamPlaces;
  log: Log;
}

/** The streams of one's own of sockets, each of which has one at most (decisions C2). */
export function createOwnStream({ feeds, places, log }: OwnStreamOptions) {
  const readers = new WeakMap<StreamSocket, SocketReader>();

  function leave(socket: StreamSocket): void {
    const reader = readers.get(socket);
    if (!reader) return;
    readers.delete(socket);
    places.unsubscribe(socket);
    reader.drop();
    feeds.leave(reader);
  }

  async function begin(reader: SocketReader, frames: readonly object[]): Promise<void> {
    const { socket } = reader;
    try {
      for (const frame of frames) {
        if (readers.get(socket) !== reader) return;
        socket.say(frame);
        await socket.drained();
      }
      reader.goLive();
    } catch (error) {
      log.error({ err: describeError(error) }, 'a stream of one’s own could not begin');
      socket.end('failed');
    }
  }

  return {
    leave,

    /** @throws requestErrors.tooMany */
    async subscribe(socket: StreamSocket, identityId: string): Promise<void> {
      leave(socket);
      places.subscribe(socket);
      const reader = new SocketReader(socket, identityId);
      readers.set(socket, reader);
      try {
        const state = await feeds.start(reader);
        if (readers.get(socket) !== reader) return feeds.leave(reader);
        // later frames must not wait for many channels
        void begin(reader, [{ type: 'subscribed', self: true }, ...state]);
      } catch (error) {
        if (readers.get(socket) === reader) leave(socket);
        throw error;
      }
    },
  };
}
export type OwnStream = ReturnType<typeof createOwnStream>;
