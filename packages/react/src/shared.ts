/**
 * Opens something for its first user, and closes it after the last one.
 * @param isCurrent whether it may be open: who comes late gets a closed one
 */
export function createShared<Resource extends { close(): void }>(open: () => Resource, isCurrent: () => boolean) {
  let current: Resource | undefined;
  let users = 0;
  function close(): void {
    current?.close();
    current = undefined;
  }
  return {
    close,
    /** @returns the resource, and a function that ends the use */
    use(): [Resource, () => void] {
      users += 1;
      current ??= open();
      if (!isCurrent()) current.close();
      let isUsed = true;
      function release(): void {
        if (!isUsed) return;
        isUsed = false;
        users -= 1;
        // the next user may come in the same commit
        queueMicrotask(() => users === 0 && close());
      }
      return [current, release];
    },
  };
}
