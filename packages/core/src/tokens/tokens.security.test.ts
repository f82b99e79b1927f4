import { hkdfSync } from 'node:crypto';
import { CompactEncrypt, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKeyRing, type TokenKeys } from './keys.js';
import { createTokens, type Tokens } from './tokens.js';

const SIGN = 's'.repeat(32);
const ENC = 'e'.repeat(32);
const OTHER = 'o'.repeat(32);
const now = new Date('2026-01-01T00:00:00Z');
const seconds = now.getTime() / 1000;
const GOOD: JWTPayload = { type: 'access', jti: 'id', sub: 'ann', iat: seconds, exp: seconds + 60, iss: 'tandem', aud: 'access' };
const HEADER = { alg: 'dir', enc: 'A256GCM', typ: 'access', cty: 'JWT' };

let tokens: Tokens;
let keys: TokenKeys;
let token: string;
let second: string;
beforeAll(async () => {
  // a reader that has made none of the tokens: what it remembers cannot hide what it would accept
  tokens = await createTokens({ signSecrets: [SIGN], encSecrets: [ENC], clock: { now: () => now } });
  const maker = await createTokens({ signSecrets: [SIGN], encSecrets: [ENC], clock: { now: () => now } });
  [keys] = (await createKeyRing('access', [SIGN], [ENC])) as [TokenKeys];
  token = await maker.issue('access', { sub: 'ann', expiresAt: new Date(now.getTime() + 60_000) });
  second = await maker.issue('access', { sub: 'bob', expiresAt: new Date(now.getTime() + 60_000) });
});

function sign(payload: JWTPayload, key: TokenKeys['sign'] | Uint8Array = keys.sign, alg = 'HS256'): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg }).sign(key);
}
function encrypt(inner: string, key: TokenKeys['encrypt'] | Uint8Array = keys.encrypt, header: object = {}): Promise<string> {
  const protectedHeader = { ...HEADER, kid: keys.keyId, ...header };
  return new CompactEncrypt(new TextEncoder().encode(inner)).setProtectedHeader(protectedHeader).encrypt(key);
}
async function expectRefused(forged: string): Promise<void> {
  await expect(tokens.verify('access', forged), forged).rejects.toMatchObject({ name: 'TokenError', reason: 'unreadable' });
}

describe('refused is', () => {
  it('nothing else than what is forged below: the forger can make a good token', async () => {
    expect((await tokens.verify('access', await encrypt(await sign(GOOD)))).sub).toBe('ann');
  });

  it('what is no token', async () => {
    for (const text of [
      '',
      '.',
      '....',
      'a.b.c',
      'a.b.c.d.e',
      '{}',
      'null',
      'x'.repeat(5000),
      `${token}.`,
      token.split('.')[0] as string,
    ])
      await expectRefused(text);
  });

  it('a token cut anywhere', async () => {
    for (let length = 1; length < token.length; length += 7) await expectRefused(token.slice(0, length));
    await expectRefused(token.slice(0, -1));
    await expectRefused(token.slice(1));
  });

  it('a token spliced of two', async () => {
    const [mine, other] = [token.split('.'), second.split('.')];
    for (const part of [2, 3, 4]) await expectRefused(mine.map((text, at) => (at === part ? other[at] : text)).join('.'));
  });

  it('a token of which any character is another: none has two texts', async () => {
    for (const [part, text] of token.split('.').entries()) {
      for (const at of [0, Math.floor(text.length / 2), text.length - 1].filter((index) => index >= 0 && text !== '')) {
        for (const character of 'ABCDQRSTgwxyz0189-_=+/ ') {
          if (text[at] === character) continue;
          const changed = text.slice(0, at) + character + text.slice(at + 1);
          await expectRefused(token.split('.').map((other, index) => (index === part ? changed : other)).join('.')); // prettier-ignore
        }
      }
    }
    for (const added of ['=', '==', ' ', '\n']) await expectRefused(token + added);
  });

  it('a signed token without encryption, and an encrypted one without signature', async () => {
    await expectRefused(await sign(GOOD));
    await expectRefused(await encrypt(JSON.stringify(GOOD)));
  });

  it('algorithm none, and every algorithm but ours', async () => {
    await expectRefused(new UnsecuredJWT(GOOD).encode());
    await expectRefused(await encrypt(new UnsecuredJWT(GOOD).encode()));
    const raw = (purpose: string, length = 32) => new Uint8Array(hkdfSync('sha256', purpose.endsWith('sign') ? SIGN : ENC, 'tandem', purpose, length)); // prettier-ignore
    for (const alg of ['HS384', 'HS512']) await expectRefused(await encrypt(await sign(GOOD, raw('access sign'), alg)));
    const inner = await sign(GOOD);
    for (const alg of ['A256KW', 'A256GCMKW', 'PBES2-HS256+A128KW'])
      await expectRefused(await encrypt(inner, raw('access encrypt'), { alg }));
    await expectRefused(await encrypt(inner, raw('access encrypt'), { enc: 'A128CBC-HS256' }));
  });

  it('a token of other secrets, also when only one of them is another', async () => {
    const [other] = (await createKeyRing('access', [OTHER], [OTHER])) as [TokenKeys];
    await expectRefused(await encrypt(await sign(GOOD), other.encrypt, { kid: other.keyId }));
    await expectRefused(await encrypt(await sign(GOOD), other.encrypt));
    await expectRefused(await encrypt(await sign(GOOD, other.sign)));
  });

  it('a token with the keys of another type, whatever its header says', async () => {
    const [refresh] = (await createKeyRing('refresh', [SIGN], [ENC])) as [TokenKeys];
    const inner = await sign(GOOD, refresh.sign);
    await expectRefused(await encrypt(inner, refresh.encrypt));
    await expectRefused(await encrypt(inner, refresh.encrypt, { kid: refresh.keyId }));
    await expectRefused(await encrypt(inner, refresh.encrypt, { kid: refresh.keyId, typ: 'refresh' }));
    await expectRefused(await encrypt(await sign({ ...GOOD, type: 'refresh' })));
  });

  it('a token of another issuer or audience, or that lacks what it must say', async () => {
    await expectRefused(await encrypt(await sign({ ...GOOD, iss: 'somebody' })));
    await expectRefused(await encrypt(await sign({ ...GOOD, aud: 'refresh' })));
    for (const claim of ['iss', 'aud', 'sub', 'jti', 'iat', 'exp', 'type'])
      await expectRefused(await encrypt(await sign(Object.fromEntries(Object.entries(GOOD).filter(([key]) => key !== claim)))));
  });

  it('an unknown type or key, and a header that asks for more', async () => {
    const inner = await sign(GOOD);
    for (const header of [{ typ: 'admin' }, { typ: '__proto__' }, { kid: 'unknown' }, { kid: '' }])
      await expectRefused(await encrypt(inner, keys.encrypt, header));
  });
});
