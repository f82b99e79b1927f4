import type { Operation, TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import type { AppRouter } from './router-types.js';

/** The ETags of answers. */
const versions = new WeakMap<object, string>();

/**
 * The version of a record that a call has returned: one that creates, or one with `{ context: { versioned: true } }` or
 * `{ context: { ifMatch } }`. Pass it as `{ context: { ifMatch } }` to change the record only while it has this version.
 * @throws TypeError for anything else, copies of answers included
 */
export function versionOf(answer: object): string {
  const version = versions.get(answer);
  if (version === undefined) throw new TypeError('no version is known: read with { context: { versioned: true } }');
  return version;
}

/** Whether a call must be sent alone, so that its request or its answer has the header of a version. */
export function hasVersion({ context }: Operation): boolean {
  return context['versioned'] === true || typeof context['ifMatch'] === 'string';
}

/** The headers of a call that expects a version. */
export function versionHeaders({ context: { ifMatch } }: Operation): Record<string, string> {
  return typeof ifMatch === 'string' ? { 'if-match': ifMatch } : {};
}

/** Notes the versions of answers. */
export function createVersionsLink(): TRPCLink<AppRouter> {
  return () =>
    ({ op, next }) =>
      observable((observer) =>
        next(op).subscribe({
          ...observer,
          next(value) {
            const { result, context } = value;
            const data: unknown = 'data' in result ? result.data : undefined;
            const tag = (context?.['response'] as Response | undefined)?.headers.get('etag');
            if (tag && typeof data === 'object' && data !== null) versions.set(data, tag);
            observer.next(value);
          },
        }),
      );
}
