import type { Operation, TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import { SenderGone, isLost } from './failure.js';
import { randomId } from './random-id.js';
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

/** The header of a call with a key, which is in its context. */
export function keyHeaders({ context: { idempotencyKey } }: Operation): Record<string, string> {
  return typeof idempotencyKey === 'string' ? { 'idempotency-key': idempotencyKey } : {};
}

/**
 * Whether a call must stay in one name, as one with a key does, and those of a stream with each other: it is sent alone,
 * so that no others fail with it.
 */
export const hasSender = ({ context }: Operation) => Boolean(context['sentBy']);

/**
 * Notes in whose name such a call is sent: links copy its context, but keep the object in it.
 * @throws SenderGone when it was sent in another's before
 */
export function noteOwner({ context }: Operation, owner: string | undefined): void {
  const { sentBy } = context as { sentBy?: { owner?: string | undefined } };
  if (sentBy && (sentBy.owner ??= owner) !== owner) throw new SenderGone('not sent again: its sender has signed out');
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
        const idempotencyKey = op.context['idempotencyKey'] ?? (isCreate && randomId());
        const hasKey = typeof idempotencyKey === 'string';
        const operation = hasKey ? { ...op, context: { sentBy: {}, ...op.context, idempotencyKey } } : op;
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
        send(hasKey);
        return () => current?.unsubscribe();
      });
}
