import { isIP } from 'node:net';
import type { Request } from 'express';

/**
 * The client's address as reported by trusted proxies. When a proxy forwards text that is not an address, that entry
 * and all before it are ignored and the proxy itself is the client; otherwise a caller could choose the address that
 * limits count (decisions H12).
 */
export function clientAddress(req: Pick<Request, 'ips' | 'socket' | 'headers'>): string {
  // Express parses on each access
  const ips = req.headers['x-forwarded-for'] === undefined ? [] : req.ips;
  // the nearest proxy is last
  const firstWrong = ips.findLastIndex((address) => isIP(address) === 0);
  const address = ips[firstWrong + 1] ?? req.socket.remoteAddress ?? '';
  // a dual-stack socket shows IPv4 peers as ::ffff:127.0.0.1
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}
