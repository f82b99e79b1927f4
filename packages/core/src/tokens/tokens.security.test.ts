import { createCipheriv, createHmac, createSecretKey, generateKeyPairSync, hkdfSync, randomBytes } from 'node:crypto';
import { SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { TOKEN_TYPES, type TokenType } from './claims.js';
import { createKeyRing } from './keys.js';
import { createTokens, type Tokens } from './tokens.js';
import type { WritingKeys } from './write.js';

const SIGN = 's'.repeat(32);
const ENC = 'e'.repeat(32);
const OTHER = 'o'.repeat(32);
const now = new Date('2026-01-01T00:00:00Z');
const seconds = now.getTime() / 1000;
const inAMinute = new Date(now.getTime() + 60_000);

const tokensOf = (signSecrets = [SIGN], encSecrets = [ENC]) =>
  createTokens({ signSecrets, encSecrets, clock: { now: () => now } });
async function firstKeys(type: TokenType, sign = SIGN, enc = ENC): Promise<WritingKeys & { keyId: string }> {
  const [keys] = await createKeyRing(type, [sign], [enc]);
  if (!keys) throw new Error('no keys');
  return { keyId: keys.keyId, ...keys.writing };
}
const bytesOf = (secret: string, purpose: string, length = 32) =>
  new Uint8Array(hkdfSync('sha256', secret, 'tandem', purpose, length));

describe.each(TOKEN_TYPES)('of the type %s, refused is', (type) => {
  const GOOD: JWTPayload = { type, jti: 'id', sub: 'ann', iat: seconds, exp: seconds + 60, iss: 'tandem', aud: type };
  let tokens: Tokens;
  let keys: Awaited<ReturnType<typeof firstKeys>>;
  let token: string;
  let second: string;
  beforeAll(async () => {
    // a reader that made none of the tokens: its cache cannot hide what it would accept
    tokens = await tokensOf();
    const maker = await tokensOf();
    keys = await firstKeys(type);
    token = maker.issue(type, { sub: 'ann', expiresAt: inAMinute });
    second = maker.issue(type, { sub: 'bob', expiresAt: inAMinute });
  });

  function sign(
    payload: JWTPayload,
    key: Parameters<SignJWT['sign']>[0] = keys.sign,
    header: { alg?: string } = {},
  ): Promise<string> {
    return new SignJWT(payload).setProtectedHeader({ alg: 'HS256', ...header }).sign(key);
  }
  const headerText = (header: object = {}) => JSON.stringify({ alg: 'dir', enc: 'A256GCM', typ: type, kid: keys.keyId, cty: 'JWT', ...header }); // prettier-ignore

  /**
   * Encrypts anything under any header, which no library would do, so that a refusal is never due to a malformed token.
   */
  function encrypt(
    inner: string,
    { header = headerText(), key = keys.encrypt }: { header?: string; key?: WritingKeys['encrypt'] } = {},
  ): string {
    const protectedHeader = Buffer.from(header).toString('base64url');
    const iv = randomBytes(12);
    const cipher = createCipheriv(key.symmetricKeySize === 16 ? 'aes-128-gcm' : 'aes-256-gcm', key, iv).setAAD(
      Buffer.from(protectedHeader),
    );
    const sealed = Buffer.concat([cipher.update(inner), cipher.final()]);
    const parts = [protectedHeader, '', iv, sealed, cipher.getAuthTag()];
    return parts.map((part) => (typeof part === 'string' ? part : part.toString('base64url'))).join('.');
  }
  async function expectRefused(forged: string): Promise<void> {
    for (const read of [tokens.verify, tokens.verifyEvenExpired])
      await expect(read(type, forged), forged.slice(0, 600)).rejects.toMatchObject({ name: 'TokenError', reason: 'unreadable' });
  }

  it('only what is forged below: the forger can make a good token', async () => {
    expect((await tokens.verify(type, encrypt(await sign(GOOD)))).sub).toBe('ann');
  });

  it('text that is not a token', async () => {
    const texts = ['', '.', '....', 'a.b.c', 'a.b.c.d.e', '{}', 'null', `${token}.`, token.split('.')[0] as string];
    for (const text of texts) await expectRefused(text);
  });

  it('a token that is too long, without decoding it', async () => {
    const [header, , iv, , tag] = token.split('.');
    await expectRefused([header, '', iv, 'A'.repeat(4096), tag].join('.'));
    const start = performance.now();
    for (const text of ['x', '.', 'é', token]) await expectRefused(text.repeat(Math.ceil(5_000_000 / text.length)));
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it('a token cut anywhere', async () => {
    for (let length = 1; length < token.length; length += 7) await expectRefused(token.slice(0, length));
    await expectRefused(token.slice(0, -1));
    await expectRefused(token.slice(1));
  });

  it('a token spliced from two, or with a part missing, added, repeated or moved', async () => {
    const [mine, other] = [token.split('.'), second.split('.')];
    for (const part of [2, 3, 4]) await expectRefused(mine.map((text, at) => (at === part ? other[at] : text)).join('.'));
    for (const part of [0, 2, 3, 4]) {
      await expectRefused(mine.toSpliced(part, 1).join('.'));
      await expectRefused(mine.toSpliced(part, 0, mine[part] as string).join('.'));
      // an encrypted key where there is none
      await expectRefused(mine.with(1, mine[part] as string).join('.'));
    }
    await expectRefused(mine.toReversed().join('.'));
    await expectRefused(`${token}.${second}`);
  });

  it('a token with any one character changed: no token has two texts', async () => {
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

  it('a signed token without encryption, an encrypted one without signature, and one that is encrypted twice', async () => {
    await expectRefused(await sign(GOOD));
    await expectRefused(encrypt(JSON.stringify(GOOD)));
    await expectRefused(encrypt(encrypt(await sign(GOOD))));
  });

  it('the signature algorithm none, and every other but ours', async () => {
    await expectRefused(new UnsecuredJWT(GOOD).encode());
    await expectRefused(encrypt(new UnsecuredJWT(GOOD).encode()));
    for (const alg of ['HS384', 'HS512'])
      await expectRefused(encrypt(await sign(GOOD, bytesOf(SIGN, `${type} sign`, 64), { alg })));
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await expectRefused(encrypt(await sign(GOOD, rsa.privateKey, { alg: 'RS256' })));
    const signed = (await sign(GOOD)).split('.');
    for (const alg of ['none', 'None', 'NONE', 'RS256', 'hs256', '']) {
      const [, payload, signature] = signed;
      const header = Buffer.from(JSON.stringify({ alg })).toString('base64url');
      for (const tail of [signature, '']) await expectRefused(encrypt([header, payload, tail].join('.')));
    }
  });

  it('every encryption but ours, whatever the key', async () => {
    const inner = await sign(GOOD);
    for (const alg of ['A256KW', 'A256GCMKW', 'PBES2-HS256+A128KW', 'RSA-OAEP', 'none', ''])
      await expectRefused(encrypt(inner, { header: headerText({ alg }) }));
    for (const enc of ['A128GCM', 'A192GCM', 'A128CBC-HS256', 'A256CBC-HS512', 'none', ''])
      await expectRefused(encrypt(inner, { header: headerText({ enc }) }));
    const half = createSecretKey(bytesOf(ENC, `${type} encrypt`, 16));
    await expectRefused(encrypt(inner, { header: headerText({ enc: 'A128GCM' }), key: half }));
  });

  it('a header that asks for more, or is not in our exact form', async () => {
    const inner = await sign(GOOD);
    const jwk = { kty: 'oct', k: Buffer.alloc(32).toString('base64url') };
    const more = [{ zip: 'DEF' }, { crit: ['exp'], exp: 0 }, { crit: ['b64'], b64: false }, { jwk }, { jku: 'http://127.0.0.1/keys' }, { x5u: 'http://127.0.0.1/' }, { x5c: [''] }, { apu: 'x' }, { p2c: 1e9 }]; // prettier-ignore
    for (const header of more) await expectRefused(encrypt(inner, { header: headerText(header) }));
    const plain = headerText();
    const texts = [` ${plain}`, plain.replace(',', ', '), plain.replace('{', '{"alg":"none",'), plain.replace('}', ',"alg":"dir"}'), `${plain}{}`, `[${plain}]`, plain.replace('dir', '\\u0064ir')]; // prettier-ignore
    for (const header of texts) await expectRefused(encrypt(inner, { header }));
  });

  it('an unknown type or key in the header', async () => {
    const inner = await sign(GOOD);
    for (const header of [{ typ: 'admin' }, { typ: '__proto__' }, { kid: 'unknown' }, { kid: '' }, { kid: ['x'] }])
      await expectRefused(encrypt(inner, { header: headerText(header) }));
  });

  it('a token of other secrets, also when only one of them differs, or the two are swapped', async () => {
    const other = await firstKeys(type, OTHER, OTHER);
    await expectRefused(encrypt(await sign(GOOD), { header: headerText({ kid: other.keyId }), key: other.encrypt }));
    await expectRefused(encrypt(await sign(GOOD), { key: other.encrypt }));
    await expectRefused(encrypt(await sign(GOOD, other.sign)));
    await expectRefused(encrypt(await sign(GOOD, bytesOf(ENC, `${type} encrypt`))));
    await expectRefused(encrypt(await sign(GOOD, bytesOf(ENC, `${type} sign`))));
    for (const secret of [SIGN, ENC]) await expectRefused(encrypt(await sign(GOOD, Buffer.from(secret))));
  });

  it('a token of a secret that was removed; until then it is read', async () => {
    const old = (await tokensOf([OTHER], [OTHER])).issue(type, { sub: 'ann', expiresAt: inAMinute });
    const rotating = await tokensOf([SIGN, OTHER], [ENC, OTHER]);
    expect((await rotating.verify(type, old)).sub).toBe('ann');
    for (const halfway of [await tokensOf([SIGN, OTHER]), await tokensOf([SIGN], [ENC, OTHER])])
      await expect(halfway.verify(type, old)).rejects.toMatchObject({ reason: 'unreadable' });
    await expectRefused(old);
  });

  it.each(TOKEN_TYPES.filter((other) => other !== type))(
    'a token with the keys of the type %s, whatever it claims',
    async (other) => {
      const otherKeys = await firstKeys(other);
      for (const payload of [GOOD, { ...GOOD, type: other, aud: other }]) {
        const inner = await sign(payload, otherKeys.sign);
        for (const header of [{}, { kid: otherKeys.keyId }]) {
          await expectRefused(encrypt(inner, { header: headerText(header), key: otherKeys.encrypt }));
          await expectRefused(encrypt(inner, { header: headerText(header) }));
        }
      }
      // a good one of the other type gets a reason of its own
      const good = (await tokensOf()).issue(other, { sub: 'ann', expiresAt: inAMinute });
      await expect(tokens.verify(type, good)).rejects.toMatchObject({ reason: 'wrong-type' });
    },
  );

  it('a token of another issuer, audience or type, one that is not valid yet, and one without a required claim', async () => {
    const claims = [{ iss: 'somebody' }, { iss: ['tandem'] }, { aud: 'other' }, { aud: [] }, { type: 'other' }, { type: undefined }, { nbf: seconds + 3600 }, { exp: 'never' }, { exp: `${seconds + 60}` }, { exp: null }, { iat: 'now' }]; // prettier-ignore
    for (const wrong of claims) await expectRefused(encrypt(await sign({ ...GOOD, ...wrong } as JWTPayload)));
    for (const claim of ['iss', 'aud', 'sub', 'jti', 'iat', 'exp', 'type'])
      await expectRefused(encrypt(await sign(Object.fromEntries(Object.entries(GOOD).filter(([key]) => key !== claim)))));
    for (const payload of ['', 'null', '[]', '"text"', '{']) {
      const header = Buffer.from('{"alg":"HS256"}').toString('base64url');
      const signed = `${header}.${Buffer.from(payload).toString('base64url')}`;
      const signature = createHmac('sha256', keys.sign).update(signed).digest('base64url');
      await expectRefused(encrypt(`${signed}.${signature}`));
    }
  });

  it('an expired token, except to end what it granted', async () => {
    for (const exp of [seconds, seconds - 1, 1, -1]) {
      const expired = encrypt(await sign({ ...GOOD, exp }));
      await expect(tokens.verify(type, expired)).rejects.toMatchObject({ reason: 'unreadable' });
    }
    const expired = encrypt(await sign({ ...GOOD, exp: seconds - 1 }));
    expect((await tokens.verifyEvenExpired(type, expired)).sub).toBe('ann');
  });
});
