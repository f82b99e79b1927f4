import type { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { addressGroup } from './address-group.js';
import { clientAddress } from './client-address.js';

/** Pipelined requests that one connection may have open. Browsers and proxies do not pipeline. */
const WAITING_MAX = 4;
/** Unread answer bytes that one address (for IPv6, its network) may leave; the next answer to it is cut off. */
const UNREAD_MAX = 32 * 1024 * 1024;

/**
 * Keeps clients that ask and do not read from filling the memory: an answer stays in the process until the client takes
 * it. Place it before all routes, after the host's `trust proxy`.
 * @param unreadBy holds the bytes by address; addresses without open answers are removed
 */
export function limitUnread(unreadBy = new Map<string, number>()): RequestHandler {
  const waitingOn = new WeakMap<Socket, number>();

  function count(req: Request, res: Response): void {
    const bytes = res.writableLength;
    if (bytes === 0 && unreadBy.size === 0) return;
    const reader = addressGroup(clientAddress(req));
    const before = unreadBy.get(reader) ?? 0;
    if (before > UNREAD_MAX) {
      res.destroy();
      return;
    }
    unreadBy.set(reader, before + bytes);
    res.once('close', () => {
      const left = (unreadBy.get(reader) ?? 0) - bytes;
      if (left > 0) unreadBy.set(reader, left);
      else unreadBy.delete(reader);
    });
  }

  return (req, res, next) => {
    const { socket } = req;
    const waiting = (waitingOn.get(socket) ?? 0) + 1;
    if (waiting > WAITING_MAX) {
      socket.destroy();
      return;
    }
    waitingOn.set(socket, waiting);
    res.once('close', () => waitingOn.set(socket, (waitingOn.get(socket) ?? 1) - 1));
    // the whole answer has been handed to the connection, and may still be buffered there
    res.once('prefinish', () => count(req, res));
    next();
  };
}
