/**
 * A name for a call, a message or anything else of this client, which nothing else has: 32 hexadecimal digits. Pages without TLS
 * have no `crypto.randomUUID`, and React Native has no `crypto`.
 */
export function randomId(): string {
  const bytes = new Uint8Array(16);
  const { crypto } = globalThis as { crypto?: { getRandomValues(bytes: Uint8Array): void } };
  if (crypto) crypto.getRandomValues(bytes);
  else bytes.forEach((_, at) => (bytes[at] = Math.random() * 256));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
