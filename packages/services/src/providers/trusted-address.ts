const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether nobody else can read what is sent to this address: https, or http on loopback. */
export function isTrustedAddress({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback({ protocol, hostname });
}

/** Whether the address is http on loopback. */
export function isLoopback({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean {
  return protocol === 'http:' && LOOPBACK.has(hostname);
}
