import { describe, expect, it } from 'vitest';
import { TokenError, type TokenType } from './claims.js';
import { createTokens, type Tokens } from './tokens.js';

const SIGN = 's'.repeat(32);
const ENC = 'e'.repeat(32);
const OLD = 'o'.repeat(32);
const start = Date.parse('2026-01-01T00:00:00.500Z');

function clockAt(time: { ms: number }) {
  return { now: () => new Date(time.ms) };
}
function tokensOf(signSecrets: string[], encSecrets: string[], time = { ms: start }): Promise<Tokens> {
  return createTokens({ signSecrets, encSecrets, clock: clockAt(time) });
}
const request = { sub: 'ann', sid: 'session', fph: 'hash', expiresAt: new Date(start + 60_000) };
const refused = (reason: string) => expect.objectContaining({ name: 'TokenError', reason });

describe('a token', () => {
  it.each<TokenType>(['access', 'refresh', 'onetime'])(
    'of type %s carries its claims, also to another instance',
    async (type) => {
      const token = (await tokensOf([SIGN], [ENC])).issue(type, { ...request, jti: 'mine', target: 'login' });
      const claims = await (await tokensOf([SIGN], [ENC])).verify(type, token);
      const seconds = Math.floor(start / 1000);
      expect(claims).toMatchObject({ type, sub: 'ann', sid: 'session', fph: 'hash', jti: 'mine', target: 'login' });
      expect([claims.iat, claims.exp]).toEqual([seconds, seconds + 60]);
    },
  );

  it('reveals neither its identity nor the fingerprint without the secrets', async () => {
    const token = (await tokensOf([SIGN], [ENC])).issue('access', request);
    const [header = ''] = token.split('.');
    expect(Object.keys(JSON.parse(Buffer.from(header, 'base64url').toString()) as object)).toEqual([
      'alg',
      'enc',
      'typ',
      'kid',
      'cty',
    ]);
    expect(Buffer.from(token.split('.')[3] ?? '', 'base64url').toString('latin1')).not.toContain('ann');
  });

  it('has a different text each time', async () => {
    const tokens = await tokensOf([SIGN], [ENC]);
    const texts = Array.from({ length: 100 }, () => tokens.issue('access', { ...request, jti: 'mine' }));
    for (const part of [2, 3, 4]) expect(new Set(texts.map((text) => text.split('.')[part])).size).toBe(100);
  });

  it('expires at its second, on the instance that made it and on one that never saw it; its claims can still be read to end them', async () => {
    const time = { ms: start };
    const [maker, other] = [await tokensOf([SIGN], [ENC], time), await tokensOf([SIGN], [ENC], time)];
    const token = maker.issue('access', request);
    time.ms = start + 59_499;
    for (const tokens of [maker, other]) expect((await tokens.verify('access', token)).sub).toBe('ann');
    time.ms = start + 59_500;
    for (const tokens of [maker, other, await tokensOf([SIGN], [ENC], time)]) {
      await expect(tokens.verify('access', token)).rejects.toEqual(refused('unreadable'));
      expect((await tokens.verifyEvenExpired('access', token)).sub).toBe('ann');
    }
  });

  it('cannot be used as another type', async () => {
    const tokens = await tokensOf([SIGN], [ENC]);
    for (const type of ['refresh', 'onetime'] as const) {
      const token = tokens.issue(type, request);
      await expect(tokens.verify('access', token)).rejects.toEqual(refused('wrong-type'));
      await expect(tokens.verifyEvenExpired('access', token)).rejects.toEqual(refused('wrong-type'));
    }
  });
});

describe('secrets', () => {
  it('may be rotated, each alone: old tokens are read, new ones are made with the first', async () => {
    const old = (await tokensOf([OLD], [OLD])).issue('access', request);
    for (const [sign, enc] of [
      [
        [SIGN, OLD],
        [ENC, OLD],
      ],
      [[SIGN, OLD], [OLD]],
      [[OLD], [ENC, OLD]],
    ] as const) {
      const rotated = await tokensOf([...sign], [...enc]);
      expect((await rotated.verify('access', old)).sub).toBe('ann');
      const fresh = rotated.issue('access', request);
      expect((await (await tokensOf([sign[0]], [enc[0]])).verify('access', fresh)).sub).toBe('ann');
    }
    const without = await tokensOf([SIGN], [ENC]);
    await expect(without.verify('access', old)).rejects.toEqual(refused('unreadable'));
  });

  it('are refused when one of a list is missing or has less than 32 bytes', async () => {
    for (const bad of [[], [''], [SIGN, ''], ['s'.repeat(31)], [SIGN, 'short']]) {
      await expect(tokensOf(bad, [ENC])).rejects.toThrow('authSignSecret must have at least 32 bytes in each secret');
      await expect(tokensOf([SIGN], bad)).rejects.toThrow('authEncSecret must have at least 32 bytes in each secret');
    }
    await expect(tokensOf(['ü'.repeat(16)], [ENC])).resolves.toBeDefined();
  });
});

describe('reading a token', () => {
  it('is done once for concurrent callers, and a refusal is not cached', async () => {
    const other = await tokensOf([SIGN], [ENC]);
    const token = (await tokensOf([SIGN], [ENC])).issue('access', request);
    const read = await Promise.all(Array.from({ length: 20 }, () => other.verify('access', token)));
    expect(new Set(read).size).toBe(1);
    const bad = await Promise.allSettled(Array.from({ length: 5 }, () => other.verify('access', `${token}x`)));
    expect(bad.every((result) => result.status === 'rejected' && result.reason instanceof TokenError)).toBe(true);
  });
});
