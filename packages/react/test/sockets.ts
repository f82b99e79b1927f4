import type { SocketConstructor } from '@tandem/client';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** Sockets that a test can count and cut. */
export function createSockets(): { WebSocket: SocketConstructor; open(): WebSocket[]; cut(): void } {
  const made: WebSocket[] = [];
  class Recorded extends WebSocket {
    constructor(address: string) {
      super(address);
      made.push(this);
    }
  }
  const open = () => made.filter(({ readyState }) => readyState === WebSocket.OPEN || readyState === WebSocket.CONNECTING);
  onTestFinished(() => made.forEach((socket) => socket.terminate()));
  return { WebSocket: Recorded, open, cut: () => open().forEach((socket) => socket.terminate()) };
}
