import { Secret, TOTP } from 'otpauth';
import type { TestClock } from './test-clock.js';

const PERIOD_MS = 30_000;

/**
 * An authenticator app that was given a secret, in base32; it shows the code of a time step, counted from the present. Moves the
 * clock to the beginning of a step, so that no test straddles two.
 */
export function createTotpApp(secret: string, clock: Pick<TestClock, 'now' | 'advance'>): (steps?: number) => string {
  clock.advance(PERIOD_MS - (clock.now().getTime() % PERIOD_MS));
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return (steps = 0) => totp.generate({ timestamp: clock.now().getTime() + steps * PERIOD_MS });
}
