import type { StreamPlaces } from './stream-places.js';
import type { StreamSocket } from './stream-socket.js';

/** Frames that a client may send per second (decisions S5, H2). */
const FRAMES_A_SECOND = 50;
/** Frames per second that may stop subscriptions without being counted: the subscriptions of a connection. */
const STOPS_A_SECOND = 1000;

/** A frame counts once for each part of this many bytes, since the cost of parsing grows with size. */
const PART_BYTES = 4096;

/** @returns how many of these frames are within the rates of the client and, over all connections, its holder */
function count(socket: StreamSocket, frames: number, places: StreamPlaces): number {
  const room = Math.max(0, Math.min(frames, FRAMES_A_SECOND - socket.frames));
  socket.frames += frames;
  return places.frames(socket, room);
}

/**
 * Counts a received frame, before it is parsed, and notes in the socket whether it is within the rates. Closes a socket
 * whose client, or holder, continues after twice its rate: of a closing socket no frame may be parsed.
 */
export function countFrame(socket: StreamSocket, bytes: number, places: StreamPlaces): void {
  const second = Math.floor(performance.now() / 1000);
  if (socket.second !== second) {
    socket.second = second;
    socket.frames = 0;
    socket.stops = 0;
  }
  if (socket.frames >= 2 * FRAMES_A_SECOND || places.isFlooding(socket)) socket.end('flooding');
  const parts = Math.max(1, Math.ceil(bytes / PART_BYTES));
  socket.isWithinRate = count(socket, parts, places) === parts;
}

/**
 * Counts each call of the last counted frame as a frame.
 * @returns how many of them are within the rates of the client and, over all connections, its holder
 */
export function countCalls(socket: StreamSocket, calls: number, places: StreamPlaces): number {
  return Number(socket.isWithinRate) + count(socket, calls - 1, places);
}

/** Takes back one count of the last frame, which only stopped subscriptions: it frees places. */
export function forgiveStop(socket: StreamSocket, places: StreamPlaces): void {
  if (socket.stops >= STOPS_A_SECOND) return;
  socket.stops += 1;
  socket.frames -= 1;
  if (socket.isWithinRate) places.frames(socket, -1);
}
