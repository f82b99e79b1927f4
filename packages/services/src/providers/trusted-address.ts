const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether what is sent to this address stays between the two: https, or http within the machine. */
export function isTrustedAddress({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback({ protocol, hostname });
}

/** Whether it is http within the machine. */
export function isLoopback({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean {
  return protocol === 'http:' && LOOPBACK.has(hostname);
}
