import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';

function isIterable(data: unknown): data is AsyncIterable<unknown> {
  return typeof data === 'object' && data !== null && Symbol.asyncIterator in data;
}

/**
 * An iteration that reports its end: on completion, on failure, and on return, even before it has begun. May report
 * more than once.
 */
class Iteration implements AsyncIterableIterator<unknown> {
  constructor(
    private readonly iterator: AsyncIterator<unknown>,
    private readonly onOver: () => void,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown>> {
    try {
      const result = await this.iterator.next();
      if (result.done) this.onOver();
      return result;
    } catch (error) {
      this.onOver();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<unknown>> {
    try {
      await this.iterator.return?.();
      return { done: true, value: undefined };
    } finally {
      this.onOver();
    }
  }
}

/**
 * Passes on what a subscription yields.
 * @param signal stops it
 * @param onOver called, perhaps more than once, as soon as it yields nothing more
 */
export function untilOver(data: unknown, signal: AbortSignal | undefined, onOver: () => void): unknown {
  const events = isObservable(data) && signal ? observableToAsyncIterable(data, signal) : data;
  if (isIterable(events)) return new Iteration(events[Symbol.asyncIterator](), onOver);
  onOver();
  return data;
}
