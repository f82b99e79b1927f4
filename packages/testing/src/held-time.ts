import { onTestFinished, vi } from 'vitest';

/**
 * Stops the clock by which rates count seconds until the test is finished, so that no test depends on how much fits
 * into one.
 * @returns a function that begins the next second
 */
export function holdTime(): () => void {
  let at = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => at);
  onTestFinished(() => clock.mockRestore());
  return () => {
    at += 1000;
  };
}
