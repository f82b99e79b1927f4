import type { StreamPlaces } from './stream-places.js';
import type { StreamSocket } from './stream-socket.js';

/**
 * Frames that a client may send per second. A client that sends more than twice as many and continues is disconnected
 * (decisions S5, H2).
 */
const FRAMES_A_SECOND = 50;
/** Frames per second that may stop subscriptions without being counted: the subscriptions of a connection. */
const STOPS_A_SECOND = 1000;

/** Counts a frame. @returns whether the client is within its rate */
export function countFrame(socket: StreamSocket): boolean {
  const second = Math.floor(performance.now() / 1000);
  if (socket.second !== second) {
    socket.second = second;
    socket.frames = 0;
    socket.stops = 0;
  }
  if (socket.frames >= 2 * FRAMES_A_SECOND) socket.end('flooding');
  socket.frames += 1;
  return socket.frames <= FRAMES_A_SECOND;
}

/**
 * Counts each call of the last counted frame as a frame.
 * @returns how many of them are within the rates of the client and, over all connections, its holder
 */
export function countCalls(socket: StreamSocket, calls: number, places: StreamPlaces): number {
  const room = FRAMES_A_SECOND - (socket.frames - 1);
  socket.frames += Math.max(0, calls - 1);
  return places.frames(socket, Math.max(0, Math.min(calls, room)));
}

/** Takes back the count of the last frame, which only stopped subscriptions: it frees places. */
export function forgiveStop(socket: StreamSocket): void {
  if (socket.stops >= STOPS_A_SECOND) return;
  socket.stops += 1;
  socket.frames -= 1;
}
