import { TandemError } from '@tandem/client';
import { createStore } from './store.js';

/** A message that is not stored yet. */
export interface PendingMessage {
  readonly clientId: string;
  readonly channelId: string;
  readonly content: string;
  /** Why the server refuses it; undefined while it is on its way. */
  readonly failure: TandemError | undefined;
  /** Sends it again after a failure. */
  retry(): void;
  /** Forgets it after a failure. */
  discard(): void;
}
type Outgoing = Pick<PendingMessage, 'clientId' | 'channelId' | 'content'>;

/** The messages on their way, in the order in which they were sent. */
export function createOutgoing() {
  const messages = createStore<readonly PendingMessage[]>([]);
  const remove = (clientId: string) => messages.set(messages.get().filter((one) => one.clientId !== clientId));

  function send(message: Omit<Outgoing, 'clientId'>, deliver: (message: Outgoing) => Promise<void>): void {
    const outgoing = { ...message, clientId: globalThis.crypto.randomUUID() };
    const retry = () => {
      remove(outgoing.clientId);
      send(message, deliver);
    };
    const pending = { ...outgoing, failure: undefined, retry, discard: () => remove(outgoing.clientId) };
    messages.set([...messages.get(), pending]);
    deliver(outgoing).then(
      () => remove(outgoing.clientId),
      (error: unknown) =>
        messages.set(
          messages.get().map((one) => (one.clientId === outgoing.clientId ? { ...one, failure: new TandemError(error) } : one)),
        ),
    );
  }
  return { messages, send, remove };
}
