import { describeFailure, type AppRouter } from '@tandem/client';
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import type { ToldEvent } from './event-pages.js';

interface FollowOptions {
  /** Asked before each connection: renews the session, and fails where one may not read. Returns whether to try again. */
  prepare(): Promise<boolean>;
  /** Of bearer sessions. */
  accessToken(): string | undefined;
  organizationId: string | undefined;
  /** The last event that is known. */
  since: string | undefined;
  onEvent(event: ToldEvent): void;
  /** Events may have been missed that the server cannot tell: from now on they are followed again. */
  onMissed(): void;
}

/** Wait before the next attempt, in milliseconds. */
const RETRY_MS = 5000;
/** After this silence the server is asked whether it is there, and after as much more the connection is taken for dead, in milliseconds. */
const SILENCE_MS = 20_000;
/** The status where events after the last one are no longer kept. */
const GONE = 410;

/** Follows `events.stream`, and goes on behind the last event after an interruption. Returns what ends it. */
export function followEvents({ prepare, accessToken, organizationId, onEvent, onMissed, ...known }: FollowOptions): () => void {
  const retryDelayMs = () => RETRY_MS * (1 + Math.random());
  let retry: ReturnType<typeof setTimeout> | undefined;
  let { since } = known;
  let hasMissed = false;
  let starts = 0;
  const socket = createWSClient({
    async url() {
      if (await prepare()) return `${location.origin.replace(/^http/, 'ws')}/trpc`;
      void socket.close();
      throw new Error('one may not read events');
    },
    connectionParams() {
      const token = accessToken();
      return token === undefined ? {} : { authorization: `Bearer ${token}` };
    },
    retryDelayMs,
    keepAlive: { enabled: true, intervalMs: SILENCE_MS, pongTimeoutMs: SILENCE_MS },
  });
  const { events } = createTRPCClient<AppRouter>({ links: [wsLink({ client: socket })] });

  function follow(): void {
    const input = { ...(organizationId !== undefined && { organizationId }), ...(since !== undefined && { since }) };
    events.stream.subscribe(input, {
      onData({ id, data }) {
        since = id;
        onEvent(data);
      },
      onStarted() {
        // before the first event there is no place to go on from
        if (hasMissed || (starts++ > 0 && since === undefined)) onMissed();
        hasMissed = false;
      },
      onError(error) {
        hasMissed ||= describeFailure(error).status === GONE;
        if (hasMissed) since = undefined;
        // such as at the end of the session
        retry = setTimeout(follow, retryDelayMs());
      },
    });
  }

  follow();
  return () => {
    clearTimeout(retry);
    void socket.close();
  };
}
