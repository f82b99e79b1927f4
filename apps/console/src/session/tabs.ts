/** What a tab tells: whose it is, and the service whose records were changed there. */
interface Told {
  identityId: string;
  service: string;
}

/** Not heard by the tab that speaks. */
const channel = new BroadcastChannel('tandem.changes');

/** The tabs of this browser: each tells the others what was changed in it. */
export const tabs = {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is no window
  tell: (told: Told) => channel.postMessage(told),
  /** Calls back when another tab of the same person has changed something. Returns what ends that. */
  watch(identityId: string, onChange: (service: string) => void): () => void {
    const listener = ({ data }: MessageEvent<Told>): void => {
      if (data.identityId === identityId) onChange(data.service);
    };
    channel.addEventListener('message', listener);
    return () => channel.removeEventListener('message', listener);
  },
};
