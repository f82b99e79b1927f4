import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';

function isIterable(data: unknown): data is AsyncIterable<unknown> {
  return typeof data === 'object' && data !== null && Symbol.asyncIterator in data;
}

/** An iteration that says when it is over, once or more often: at its end, at its failure, and when it is left, also before it has begun. */
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
 * What a subscription yields, as it is.
 * @param signal stops it
 * @param onOver called once or more often, as soon as it yields nothing more
 */
export function untilOver(data: unknown, signal: AbortSignal | undefined, onOver: () => void): unknown {
  const events = isObservable(data) && signal ? observableToAsyncIterable(data, signal) : data;
  if (isIterable(events)) return new Iteration(events[Symbol.asyncIterator](), onOver);
  onOver();
  return data;
}
