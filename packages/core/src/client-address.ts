import { isIP } from 'node:net';
import type { Request } from 'express';

/**
 * The address of who asks, as far as trusted proxies tell it. What a proxy forwards as an address and is none counts for nothing, nor what
 * stands before it: then it is the proxy itself that asks (decisions H12). Else a caller could choose what limits count it by.
 */
export function clientAddress(req: Pick<Request, 'ips' | 'socket'>): string {
  // the nearest proxy comes last
  const firstWrong = req.ips.findLastIndex((address) => isIP(address) === 0);
  const address = req.ips[firstWrong + 1] ?? req.socket.remoteAddress ?? '';
  // an IPv6 socket shows IPv4 peers as ::ffff:127.0.0.1
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}
