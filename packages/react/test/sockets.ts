import type { SocketConstructor } from '@tandem/client';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** Sockets that a test can count and cut, and what they have received. */
export function createSockets(): {
  WebSocket: SocketConstructor;
  open(): WebSocket[];
  cut(): void;
  heard(part: string): boolean;
} {
  const made: WebSocket[] = [];
  const frames: string[] = [];
  class Recorded extends WebSocket {
    constructor(address: string) {
      super(address);
      made.push(this);
      this.on('message', (frame: Buffer) => frames.push(frame.toString()));
    }
  }
  const open = () => made.filter(({ readyState }) => readyState === WebSocket.OPEN || readyState === WebSocket.CONNECTING);
  onTestFinished(() => made.forEach((socket) => socket.terminate()));
  return {
    WebSocket: Recorded,
    open,
    cut: () => open().forEach((socket) => socket.terminate()),
    heard: (part) => frames.some((frame) => frame.includes(part)),
  };
}
