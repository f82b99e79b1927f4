import { RETRY_AFTER_UNAVAILABLE, requestErrors } from './errors.js';

/**
 * The result of `work`, unless it takes longer than the limit; the work itself is not stopped. The timer does not keep
 * the process alive.
 * @throws requestErrors.unavailable after `milliseconds`
 */
export async function withDeadline<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(requestErrors.unavailable({ retryAfter: RETRY_AFTER_UNAVAILABLE })), milliseconds).unref();
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
