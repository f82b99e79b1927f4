import { addressGroup } from './address-group.js';
import type { RequestContext } from './context.js';
import { requestErrors } from './errors.js';

/** Bodies up to this size never wait. */
const SMALL_BYTES = 64 * 1024;
/**
 * Bytes of larger bodies accepted from one network per second, and as a burst: JSON.parse takes 0.1 s for a megabyte of
 * distinct keys.
 */
const BYTES_A_SECOND = 400_000;
const AT_ONCE_MS = 2500;
/** The longest wait, short enough to answer before the deadline; a request that would wait longer is refused. */
const WAIT_MAX_MS = 10_000;

/** How many times its size a compressed body can have. Brotli has no such bound. */
const INFLATED: ReadonlyMap<string, number> = new Map([
  ['gzip', 1032],
  ['deflate', 1032],
]);

/**
 * The largest size a body can have by its headers: a chunked body declares no length, so it counts as the limit. A body
 * that declares more than the limit is never parsed, and counts as nothing; what is compressed is.
 */
function sizeOf({ headers }: RequestContext, limit: number): number {
  if (headers['transfer-encoding'] !== undefined) return limit;
  const bytes = Number(headers['content-length'] ?? 0);
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') return Math.min(limit, bytes * (INFLATED.get(encoding) ?? limit));
  return bytes > limit ? 0 : bytes;
}

/**
 * Delays a large body until the earlier ones of the same network are paid for, because parsing blocks the event loop
 * for everybody (decisions H5).
 * @param limit largest accepted body, in bytes
 */
export function createBodyPace(limit: number) {
  /** When the budget of each network is free again. */
  const usedUntil = new Map<string, number>();
  const turns = new WeakMap<RequestContext, Promise<void>>();

  function forgetBefore(time: number): void {
    for (const [network, until] of usedUntil) {
      if (until > time) return;
      usedUntil.delete(network);
    }
  }

  async function wait(ip: string, bytes: number): Promise<void> {
    const network = addressGroup(ip);
    const now = performance.now();
    const from = Math.max(usedUntil.get(network) ?? 0, now - AT_ONCE_MS);
    const waitMs = from - now;
    if (waitMs > WAIT_MAX_MS) throw requestErrors.tooMany({ retryAfter: Math.ceil((waitMs - WAIT_MAX_MS) / 1000) });
    usedUntil.delete(network);
    usedUntil.set(network, from + (bytes / BYTES_A_SECOND) * 1000);
    forgetBefore(now - AT_ONCE_MS);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }

  /**
   * Waits until the body of this request may be read; later calls for the request share that wait. @throws
   * requestErrors.tooMany instead of waiting more than 10 s
   */
  return (ctx: RequestContext): Promise<void> => {
    const bytes = sizeOf(ctx, limit);
    if (bytes <= SMALL_BYTES) return Promise.resolve();
    const turn = turns.get(ctx) ?? wait(ctx.ip, bytes);
    turns.set(ctx, turn);
    return turn;
  };
}
