import type { Held, Session } from './session.js';

/** What a request was sent with, and how many sessions had ended before. */
export type Sent = Held & { endings: number };

export type Renewals = ReturnType<typeof createRenewals>;

/**
 * Makes refused calls share one renewal, and tells the host once that a session has ended.
 * @param onSignedOut called when the server has ended a session; not after the client's own `leave`
 */
export function createRenewals(session: Session, onSignedOut: () => void) {
  const underWay = new Map<string, Promise<boolean>>();
  let endings = 0;

  async function run(sent: Sent): Promise<boolean> {
    const renewal = await session.renew(sent);
    // calls sent before a known end say nothing new
    if (renewal === 'ended' && sent.endings === endings) {
      endings++;
      onSignedOut();
    }
    return renewal === 'renewed';
  }

  return {
    /** What the next request is sent with; undefined when nobody is signed in. */
    async hold(): Promise<Sent | undefined> {
      const before = endings;
      const held = await session.hold();
      return held && { ...held, endings: before };
    },

    /**
     * Renews what a refused call was sent with, unless that has been done since.
     * @returns whether the call may be repeated
     * @throws the refresh's error, when it failed for a passing reason
     */
    renew(sent: Sent): Promise<boolean> {
      let renewal = underWay.get(sent.key);
      if (!renewal) {
        renewal = run(sent).finally(() => underWay.delete(sent.key));
        underWay.set(sent.key, renewal);
      }
      return renewal;
    },

    /** The client signs out itself: later refusals of earlier calls are no news to the host. */
    leave(): void {
      endings++;
    },
  };
}
