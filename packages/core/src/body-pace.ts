import { addressGroup } from './address-group.js';
import type { RequestContext } from './context.js';
import { requestErrors } from './errors.js';

/** Up to this size a body never waits. */
const SMALL_BYTES = 16 * 1024;
/** What the larger bodies of one network may come to in a second, and at once: a megabyte of distinct keys takes JSON.parse 0.1 s. */
const BYTES_A_SECOND = 400_000;
const AT_ONCE_MS = 2500;
/** The longest wait, which leaves time to answer before the deadline; who would have to wait for longer is refused. */
const WAIT_MAX_MS = 10_000;

export type BodyPace = ReturnType<typeof createBodyPace>;

/** What a body comes to at most, as its head says: one that comes in chunks says nothing. */
function sizeOf({ headers }: RequestContext, limit: number): number {
  if (headers['transfer-encoding'] !== undefined) return limit;
  return Math.min(Number(headers['content-length'] ?? 0), limit);
}

/**
 * Lets large bodies wait for those that the same network has sent before: while one is parsed nobody else is answered (decisions H5).
 * @param limit bytes that a body may have
 */
export function createBodyPace(limit: number) {
  /** Until when each network has used up what it may send. */
  const usedUntil = new Map<string, number>();
  const turns = new WeakMap<RequestContext, Promise<void>>();

  function forgetBefore(time: number): void {
    for (const [network, until] of usedUntil) {
      if (until > time) return;
      usedUntil.delete(network);
    }
  }

  async function wait(ctx: RequestContext): Promise<void> {
    const bytes = sizeOf(ctx, limit);
    if (bytes <= SMALL_BYTES) return;
    const network = addressGroup(ctx.ip);
    const now = performance.now();
    const from = Math.max(usedUntil.get(network) ?? 0, now - AT_ONCE_MS);
    const waitMs = from - now;
    if (waitMs > WAIT_MAX_MS) throw requestErrors.unavailable({ retryAfter: Math.ceil((waitMs - WAIT_MAX_MS) / 1000) });
    usedUntil.delete(network);
    usedUntil.set(network, from + (bytes / BYTES_A_SECOND) * 1000);
    forgetBefore(now - AT_ONCE_MS);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }

  /** Waits until the body of this request may be read; asked again, the same wait. @throws requestErrors.unavailable instead of a wait of more than 10 s */
  return (ctx: RequestContext): Promise<void> => {
    const turn = turns.get(ctx) ?? wait(ctx);
    turns.set(ctx, turn);
    return turn;
  };
}
