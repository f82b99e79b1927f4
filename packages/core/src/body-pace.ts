import { addressGroup } from './address-group.js';
import type { RequestContext } from './context.js';
import { requestErrors } from './errors.js';

/** Up to this size a body never waits. */
const SMALL_BYTES = 64 * 1024;
/** What the larger bodies of one sender may come to in a second, and at once. */
const BYTES_A_SECOND = 2_000_000;
const AT_ONCE_MS = 1000;
/** The longest wait; who would have to wait for longer is refused. */
const WAIT_MAX_MS = 5000;

export type BodyPace = ReturnType<typeof createBodyPace>;

/** Who sends: the identity, where the request was authenticated before its body is read; else the network. */
async function senderOf({ authentications, ip }: RequestContext): Promise<string> {
  for (const access of authentications.values()) {
    // one call of a batch may be refused, and another need nobody
    const known = await access.catch(() => undefined);
    if (known) return known.identity.id;
  }
  return addressGroup(ip);
}

/** What a body comes to at most, as its head says: one that comes in chunks says nothing. */
function sizeOf({ headers }: RequestContext, limit: number): number {
  if (headers['transfer-encoding'] !== undefined) return limit;
  return Math.min(Number(headers['content-length'] ?? 0), limit);
}

/**
 * Lets large bodies wait for those that the same sender has sent before: while one is parsed nobody else is answered (decisions H5).
 * @param limit bytes that a body may have
 */
export function createBodyPace(limit: number) {
  /** Until when each sender has used up what it may send. */
  const usedUntil = new Map<string, number>();
  const turns = new WeakMap<RequestContext, Promise<void>>();

  function forgetBefore(time: number): void {
    for (const [sender, until] of usedUntil) {
      if (until > time) return;
      usedUntil.delete(sender);
    }
  }

  async function wait(ctx: RequestContext): Promise<void> {
    const bytes = sizeOf(ctx, limit);
    if (bytes <= SMALL_BYTES) return;
    const sender = await senderOf(ctx);
    const now = performance.now();
    const from = Math.max(usedUntil.get(sender) ?? 0, now - AT_ONCE_MS);
    const waitMs = from - now;
    if (waitMs > WAIT_MAX_MS) throw requestErrors.unavailable({ retryAfter: Math.ceil((waitMs - WAIT_MAX_MS) / 1000) });
    usedUntil.delete(sender);
    usedUntil.set(sender, from + (bytes / BYTES_A_SECOND) * 1000);
    forgetBefore(now - AT_ONCE_MS);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }

  /** Waits until the body of this request may be read; again is fine. @throws requestErrors.unavailable instead of a wait of more than 5 s */
  return (ctx: RequestContext): Promise<void> => {
    const turn = turns.get(ctx) ?? wait(ctx);
    turns.set(ctx, turn);
    return turn;
  };
}
