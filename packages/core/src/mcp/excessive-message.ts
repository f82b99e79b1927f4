/** Keys and items that a message may have, apart from an operation's input; those of the protocol have some dozens. */
const PARTS_MAX = 1000;
/** Characters in its texts; a client may send icons of itself. */
const TEXT_MAX = 64 * 1024;

/**
 * Whether a message has more than any of the protocol, apart from the input of an operation, which has limits of its own.
 * The SDK validates a message several times, which costs many times its JSON.parse (decisions H5).
 */
export function isExcessive(message: unknown): boolean {
  const { params } = (message ?? {}) as { params?: { arguments?: { input?: unknown } } };
  const input = params?.arguments?.input;
  let parts = PARTS_MAX;
  let text = TEXT_MAX;
  /** Not deeper than there may be parts. */
  function isWithin(value: unknown): boolean {
    if (typeof value === 'string') return (text -= value.length) >= 0;
    if (typeof value !== 'object' || value === null || value === input) return true;
    for (const key in value)
      if (--parts < 0 || !isWithin(key) || !isWithin((value as Record<string, unknown>)[key])) return false;
    return true;
  }
  return !isWithin(message);
}
