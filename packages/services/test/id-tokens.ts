function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The same token with other claims, and so with a signature that is not of them. */
export function withClaims(token: string, claims: object): string {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const said = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  return [header, encode({ ...said, ...claims }), signature].join('.');
}

/** ID tokens that nobody may believe, made of a right one; undefined: none. */
export const ALTERATIONS: [string, (token: string) => unknown][] = [
  ['without a signature', (token) => `${token.split('.').slice(0, 2).join('.')}.`],
  ['with another signature', (token) => `${token.slice(0, -8)}AAAAAAAA`],
  ['of another account', (token) => withClaims(token, { sub: 'somebody else' })],
  ['of another client', (token) => withClaims(token, { aud: 'another' })],
  ['of another issuer', (token) => withClaims(token, { iss: 'https://evil.example' })],
  ['that has expired', (token) => withClaims(token, { exp: 1 })],
  ['with the algorithm none', (token) => `${encode({ alg: 'none' })}.${token.split('.')[1]}.`],
  ['that is none', () => 'garbage'],
  ['that is missing', () => undefined],
  ['without an account', (token) => withClaims(token, { sub: undefined })],
];
