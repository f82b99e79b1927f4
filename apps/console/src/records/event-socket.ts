/** What is told of an event here: which record, and who has changed it. */
export interface ToldEvent {
  type: string;
  subject: { type: string; id: string };
  actor: { id: string | null } | null;
}

interface EventSocketOptions {
  /** Asked before each connection: renews the session, and fails where one may not read. Returns whether to try again. */
  prepare(): Promise<boolean>;
  /** Of bearer sessions. */
  accessToken(): string | undefined;
  organizationId: string | undefined;
  onEvent(event: ToldEvent): void;
}

/** Wait before the next attempt, in milliseconds. */
const RETRY_MS = 5000;

/** Follows `events.stream`, and goes on behind the last event after an interruption. Returns what ends it. */
export function followEvents({ prepare, accessToken, organizationId, onEvent }: EventSocketOptions): () => void {
  let socket: WebSocket | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let lastEventId: string | undefined;
  let isOver = false;

  async function connect(): Promise<void> {
    if (!(await prepare()) || isOver) return;
    const made = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/trpc?connectionParams=1`);
    socket = made;
    made.addEventListener('open', () => {
      const token = accessToken();
      const data = token === undefined ? {} : { authorization: `Bearer ${token}` };
      made.send(JSON.stringify({ method: 'connectionParams', data }));
      const input = { ...(organizationId !== undefined && { organizationId }) };
      const params = { path: 'events.stream', input, ...(lastEventId !== undefined && { lastEventId }) };
      made.send(JSON.stringify({ id: 1, method: 'subscription', params }));
    });
    made.addEventListener('message', ({ data: text }) => {
      if (text === 'PING') return made.send('PONG');
      const { result, error } = JSON.parse(String(text)) as Answer;
      if (error) return made.close();
      if (result?.type !== 'data' || !result.data) return;
      lastEventId = result.data.id;
      onEvent(result.data.data);
    });
    made.addEventListener('close', () => {
      if (!isOver) retry = setTimeout(() => void connect(), RETRY_MS * (1 + Math.random()));
    });
  }

  void connect();
  return () => {
    isOver = true;
    clearTimeout(retry);
    socket?.close();
  };
}

interface Answer {
  result?: { type: string; data?: { id: string; data: ToldEvent } };
  error?: object;
}
