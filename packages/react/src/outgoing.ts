import { TandemError, applyToOutgoing, type MessageToSend, type OutgoingMessage } from '@tandem/client';
import { createStore } from './store.js';

/** A message that is not stored yet. */
export interface PendingMessage extends Readonly<MessageToSend> {
  readonly clientId: string;
  /** Why the server refuses it; undefined while it is on its way. */
  readonly failure: TandemError | undefined;
  /** Sends it again after a failure. */
  retry(): void;
  /** Forgets it after a failure. */
  discard(): void;
}

/** The messages on their way, in the order in which they were sent. */
export function createOutgoing(send: (message: MessageToSend) => void) {
  const messages = createStore<readonly PendingMessage[]>([]);
  let all: readonly OutgoingMessage[] = [];
  const show = (changed: typeof all) => {
    all = changed;
    messages.set(
      all.map((one) => ({
        ...one,
        failure: one.state === 'failed' ? one.error : undefined,
        retry: () => send(one),
        discard: () => remove(one.clientId),
      })),
    );
  };
  const remove = (clientId: string) => show(all.filter((one) => one.clientId !== clientId));
  const hear = (outgoing: OutgoingMessage) => show(applyToOutgoing(all, outgoing));
  return {
    messages,
    remove,
    hear,
    /** One that a stream has not even taken: of others it has told. */
    refuse(message: MessageToSend & { clientId: string }, cause: unknown): void {
      if (all.every(({ clientId }) => clientId !== message.clientId))
        hear({ ...message, state: 'failed', error: new TandemError(cause) });
    },
  };
}
