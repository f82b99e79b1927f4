import { RETRY_AFTER_UNAVAILABLE, requestErrors } from './errors.js';

/**
 * The result of `work`, unless it takes longer than the limit; the work itself is not stopped. The timer does not keep
 * the process alive.
 * @throws requestErrors.unavailable after `milliseconds`
 */
export function withDeadline<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(requestErrors.unavailable({ retryAfter: RETRY_AFTER_UNAVAILABLE }));
    const timer = setTimeout(expire, milliseconds).unref();
    const settled = <Answer>(settle: (answer: Answer) => void) => {
      return (answer: Answer) => {
        clearTimeout(timer);
        settle(answer);
      };
    };
    work.then(settled(resolve), settled(reject));
  });
}
