import type { StreamPlaces } from './stream-places.js';
import type { StreamSocket } from './stream-socket.js';

/** What a client may send in a second. Who has sent twice as much, and goes on, is closed (decisions S5, H2). */
const FRAMES_A_SECOND = 50;

/** Counts a frame. @returns whether it is within what a client may send */
export function countFrame(socket: StreamSocket): boolean {
  const second = Math.floor(performance.now() / 1000);
  if (socket.second !== second) {
    socket.second = second;
    socket.frames = 0;
  }
  if (socket.frames >= 2 * FRAMES_A_SECOND) socket.end('flooding');
  socket.frames += 1;
  return socket.frames <= FRAMES_A_SECOND;
}

/**
 * Counts the calls of the frame that was counted last, each as a frame.
 * @returns how many of them are within what a client may send, and its holder by all connections
 */
export function countCalls(socket: StreamSocket, calls: number, places: StreamPlaces): number {
  const room = FRAMES_A_SECOND - (socket.frames - 1);
  socket.frames += Math.max(0, calls - 1);
  return places.frames(socket, Math.max(0, Math.min(calls, room)));
}
