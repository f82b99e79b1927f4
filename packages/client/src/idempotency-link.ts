import { isTRPCClientError, type Operation, type TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { AppRouter } from './router-types.js';

/** Procedures that create, so that their answer is kept for a key. A test compares the list with the server. */
export const CREATES: ReadonlySet<string> = new Set([
  'attributes.create',
  'categories.create',
  'chat.addAttachment',
  'chat.createBan',
  'chat.createChannel',
  'chat.createMessage',
  'chat.createMessageTemplate',
  'chat.createReport',
  'chat.createSubscription',
  'invitations.create',
  'locations.create',
  'orders.create',
  'organizations.create',
  'organizations.createServiceAccount',
  'organizations.requestChange',
  'productVariants.create',
  'productVariants.createMany',
  'products.addImage',
  'products.copy',
  'products.copyMany',
  'products.create',
  'products.createMany',
  'profiles.create',
  'webhooks.create',
]);

/** The header that makes a create safe to repeat. */
const HEADER = 'idempotency-key';

/** The key of a call, which is in its context. */
export function keyOf({ context }: Operation): string | undefined {
  const { idempotencyKey } = context;
  return typeof idempotencyKey === 'string' ? idempotencyKey : undefined;
}

/** The headers of a call with a key, which is sent alone. */
export function keyHeaders(operation: Operation): Record<string, string> {
  const key = keyOf(operation);
  return key === undefined ? {} : { [HEADER]: key };
}

/**
 * Notes in whose name a call with a key is sent: links copy its context, but keep the object in it.
 * @throws Error when it was sent in another's before, so that it might be done twice
 */
export function noteOwner({ context }: Operation, owner: string | undefined): void {
  const sentBy = context['sentBy'] as { owner?: string | undefined } | undefined;
  if (!sentBy) return;
  sentBy.owner ??= owner;
  if (sentBy.owner !== owner) throw new Error('not sent again: its sender has signed out');
}

/** Whether a call may have been done although it failed: it has no readable answer. */
function isLost(error: unknown): boolean {
  return isTRPCClientError<AppRouter>(error) && error.data === undefined && error.meta?.['response'] === undefined;
}

/**
 * Gives each create a key, unless the caller has given one: however often it is sent, it creates once. Repeats a call
 * with a key once when its answer was lost, unless somebody else has signed in.
 */
export function createIdempotencyLink(): TRPCLink<AppRouter> {
  return () =>
    ({ op, next }) =>
      observable((observer) => {
        let current: Unsubscribable | undefined;
        const isCreate = op.type === 'mutation' && CREATES.has(op.path);
        const key = keyOf(op) ?? (isCreate ? globalThis.crypto.randomUUID() : undefined);
        const operation = key === undefined ? op : { ...op, context: { ...op.context, idempotencyKey: key, sentBy: {} } };
        function send(mayRepeat: boolean): void {
          current = next(operation).subscribe({
            next: (value) => observer.next(value),
            complete: () => observer.complete(),
            error(error) {
              if (mayRepeat && isLost(error) && op.signal?.aborted !== true) send(false);
              else observer.error(error);
            },
          });
        }
        send(key !== undefined);
        return () => current?.unsubscribe();
      });
}
