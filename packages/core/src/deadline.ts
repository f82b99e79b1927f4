import { RETRY_AFTER_UNAVAILABLE, requestErrors } from './errors.js';

/**
 * What `work` comes to, if it does so in time; it goes on either way. The timer holds no process up.
 * @throws requestErrors.unavailable after so many milliseconds
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
