/** Holds back answers, made already, to all or some requests, until they are let go. */
export function createSlowFetch(isSlow: (url: string) => boolean = () => true) {
  let held: Promise<void> | undefined;
  let waiting = 0;
  const slow: typeof fetch = async (url, init) => {
    const mustWait = isSlow(url instanceof Request ? url.url : String(url));
    const answer = await fetch(url, init);
    if (!held || !mustWait) return answer;
    waiting += 1;
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
