/** Serializes calls of the same key in this process. In parallel, all but one of those would have to start over. */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return async function inTurn<T>(key: string, act: () => Promise<T>): Promise<T> {
    const own = (last.get(key) ?? Promise.resolve()).then(act, act);
    last.set(key, own);
    try {
      return await own;
    } finally {
      if (last.get(key) === own) last.delete(key);
    }
  };
}
