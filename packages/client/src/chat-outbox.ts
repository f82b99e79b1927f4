import type { ChatMessage, StreamError } from './chat-types.js';
import { TandemError, isError, mayPass } from './failure.js';
import type { UploadedFile } from './upload.js';

/** Most messages in flight before the first is acknowledged; as many may have to be resent after a drop. */
const IN_FLIGHT_MAX = 16;
/** Milliseconds until a temporarily refused frame is sent again: the first delay, and the longest. */
export const REFUSED_MS = 1000;
const REFUSED_MAX_MS = 10_000;
/** Longest name of a message, in characters: the server does not repeat a longer one in its refusal. */
const CLIENT_ID_MAX = 100;
/** Longest frame that the server takes, in bytes: it closes the stream for a longer one. */
const FRAME_MAX = 64 * 1024;

/** A message to send. */
export interface MessageToSend {
  channelId: string;
  content: string;
  title?: string;
  replyToId?: string;
  mentions?: readonly string[];
  /** Names the message, in 100 characters at most: what is sent twice under one is stored once. Default: a new one. */
  clientId?: string;
  /** Data of your own, by key. */
  metadata?: Readonly<Record<string, string | number | boolean>>;
  /** The fields that a host application has declared for messages (docs/embedding.md). */
  fields?: Readonly<Record<string, unknown>>;
  /**
   * Files that the message arrives with, ten at most; each has its media type as `type`. Those that `uploadFile` has
   * uploaded to an address of `chat.postedFileUploadUrl` are sent as they are.
   */
  files?: readonly (Blob | UploadedFile)[];
}
type Named = MessageToSend & { clientId: string };

/**
 * A message on its way, as it is shown: `pending` until it is stored, and then `sent`; or `failed`, when it was refused
 * for good. Who sends a failed one again under its `clientId` makes it pending.
 */
export type OutgoingMessage = Named &
  ({ state: 'pending' } | { state: 'sent'; message: ChatMessage } | { state: 'failed'; error: TandemError });

interface Waiting {
  message: Named;
  /** What is sent; undefined until its files are uploaded. */
  frame: object | undefined;
  isSent: boolean;
  resolve(message: ChatMessage): void;
  reject(error: Error): void;
}

interface OutboxOptions {
  /** Sends a frame, if there is a connection. */
  send(frame: object): boolean;
  /** @returns what uploads the file, and may be called again */
  uploadOf(channelId: string, file: Blob): () => Promise<UploadedFile>;
  onOutgoing(outgoing: OutgoingMessage): void;
}

/** The messages on their way after one has changed its state: the pending and failed ones, in the order of sending. */
export function applyToOutgoing(all: readonly OutgoingMessage[], outgoing: OutgoingMessage): OutgoingMessage[] {
  const { clientId, state } = outgoing;
  if (state === 'sent') return all.filter((one) => one.clientId !== clientId);
  const isKnown = all.some((one) => one.clientId === clientId);
  return isKnown ? all.map((one) => (one.clientId === clientId ? outgoing : one)) : [...all, outgoing];
}

/**
 * Unacknowledged messages, in order; one whose files are being uploaded holds up no other. After a drop they are resent
 * with the same id, so that the server stores each once.
 */
export function createOutbox({ send, uploadOf, onOutgoing }: OutboxOptions) {
  const waiting = new Map<string, Waiting>();
  let inFlight = 0;
  /** Refusals since the last stored message. */
  let refusals = 0;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let closed: Error | undefined;

  /** Sends unsent messages, as far as allowed. */
  function pump(): void {
    for (const entry of waiting.values()) {
      if (inFlight >= IN_FLIGHT_MAX || pause) return;
      if (entry.isSent || !entry.frame) continue;
      if (!send(entry.frame)) return;
      entry.isSent = true;
      inFlight += 1;
    }
  }

  /** The server has reported the outcome of a message. */
  function settle(clientId: string): Waiting | undefined {
    const entry = waiting.get(clientId);
    if (!entry?.isSent) return undefined;
    entry.isSent = false;
    inFlight -= 1;
    return entry;
  }

  function fail({ message, reject }: Waiting, cause: unknown): void {
    const error = new TandemError(cause);
    waiting.delete(message.clientId);
    onOutgoing({ ...message, state: 'failed', error });
    reject(error);
  }

  /** Uploads until it succeeds, or is refused for good. */
  async function uploaded(entry: Waiting, file: Blob): Promise<UploadedFile> {
    const upload = uploadOf(entry.message.channelId, file);
    for (let failures = 0; ; failures++) {
      try {
        return await upload();
      } catch (error) {
        // an attempt that broke off may hold the object for a while
        const isPassing = mayPass(error) || isError(error, 'files.beingUploaded');
        if (!isPassing || waiting.get(entry.message.clientId) !== entry) throw error;
        // throws where the file was changed or removed since it was chosen; React Native cannot tell
        await (file.slice(0, 1) as Partial<Blob>).arrayBuffer?.();
        const delay = Math.min(REFUSED_MS * 2 ** failures, REFUSED_MAX_MS);
        await new Promise((resolve) => setTimeout(resolve, delay));
      }
    }
  }

  async function prepare(entry: Waiting): Promise<void> {
    const { channelId, content, title, replyToId, mentions, metadata, fields, clientId, files = [] } = entry.message;
    try {
      if (clientId.length > CLIENT_ID_MAX) throw new TypeError(`clientId must NOT have more than ${CLIENT_ID_MAX} characters`);
      const attachments: UploadedFile[] = [];
      for (const file of files) attachments.push('objectId' in file ? file : await uploaded(entry, file));
      // JSON leaves out what is undefined
      const message = { channelId, content, title, replyToId, mentions, metadata, clientId };
      const frame = { ...fields, type: 'message.create', ...message, attachments: files.length > 0 ? attachments : undefined };
      if (new TextEncoder().encode(JSON.stringify(frame)).length > FRAME_MAX)
        throw new TypeError(`the message must NOT have more than ${FRAME_MAX} bytes as JSON`);
      entry.frame = frame;
      pump();
    } catch (error) {
      // unless the client was closed meanwhile
      if (waiting.get(clientId) === entry) fail(entry, error);
    }
  }

  return {
    pump,
    async add(message: Named): Promise<ChatMessage> {
      if (closed) throw closed;
      if (waiting.has(message.clientId)) throw new TypeError('clientId: another message on its way has this one');
      return new Promise((resolve, reject) => {
        const entry: Waiting = { message, frame: undefined, isSent: false, resolve, reject };
        waiting.set(message.clientId, entry);
        onOutgoing({ ...message, state: 'pending' });
        void prepare(entry);
      });
    },
    acknowledge(clientId: string, message: ChatMessage): void {
      refusals = 0;
      // also of one that was refused at its deadline, and stored after all
      const entry = waiting.get(clientId);
      settle(clientId);
      waiting.delete(clientId);
      if (entry) {
        onOutgoing({ ...entry.message, state: 'sent', message });
        entry.resolve(message);
      }
      pump();
    },
    /** Where a retry may succeed it is sent again until it does. */
    refuse(clientId: string, refusal: StreamError): void {
      const entry = settle(clientId);
      if (!refusal.retry) {
        if (entry) fail(entry, refusal);
        return pump();
      }
      if (pause) return;
      const resume = () => {
        pause = undefined;
        pump();
      };
      pause = setTimeout(resume, Math.min(REFUSED_MS * 2 ** refusals, REFUSED_MAX_MS));
      refusals += 1;
    },
    /** The connection is down: it is unknown what arrived. */
    forget(): void {
      for (const entry of waiting.values()) entry.isSent = false;
      inFlight = 0;
    },
    close(error: Error): void {
      closed = error;
      clearTimeout(pause);
      const all = [...waiting.values()];
      waiting.clear();
      for (const { message, reject } of all) {
        onOutgoing({ ...message, state: 'failed', error: new TandemError(error) });
        reject(error);
      }
    },
  };
}
