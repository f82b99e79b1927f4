/** Holds back answers, made already, until they are let go. */
export function createSlowFetch() {
  let held: Promise<void> | undefined;
  let waiting = 0;
  const slow: typeof fetch = async (...request) => {
    const answer = await fetch(...request);
    if (held) waiting += 1;
    await held;
    return answer;
  };
  return {
    fetch: slow,
    waiting: () => waiting,
    hold(): () => void {
      let release = () => {};
      held = new Promise((resolve) => (release = resolve));
      return () => {
        held = undefined;
        release();
      };
    },
  };
}
