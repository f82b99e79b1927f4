import type { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { addressGroup } from './address-group.js';
import { clientAddress } from './client-address.js';

/** Requests of one connection that may wait for their answers. Browsers and proxies send one after the other. */
const WAITING_MAX = 4;
/** Bytes of answers that one address, an IPv6 one with its network, may leave unread; the next answer to it is cut off. */
const UNREAD_MAX = 32 * 1024 * 1024;

/**
 * Keeps those who ask and do not read from filling the memory: what is answered waits in the process until the other end takes it. To come
 * first of all routes, behind the host's `trust proxy`.
 * @param unreadBy keeps the bytes by address, and no address to which nothing is under way
 */
export function limitUnread(unreadBy = new Map<string, number>()): RequestHandler {
  const waitingOn = new WeakMap<Socket, number>();

  function count(req: Request, res: Response): void {
    const bytes = res.writableLength;
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
    // all of the answer has been handed to the connection, and none of it may have left
    res.once('prefinish', () => count(req, res));
    next();
  };
}
