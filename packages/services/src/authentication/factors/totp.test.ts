import { describe, expect, it } from 'vitest';
import { stepOf } from './totp.js';

describe('codes of RFC 6238', () => {
  const secret = Buffer.from('12345678901234567890');
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %i s: %s, one step to either side', (seconds, code) => {
    const step = Math.floor(seconds / 30);
    const at = (steps: number) => stepOf(code, secret, new Date((seconds + 30 * steps) * 1000));
    expect([-2, -1, 0, 1, 2].map(at)).toEqual([undefined, step, step, step, undefined]);
  });
});
