import { isIPv4, isIPv6 } from 'node:net';

const GROUPS = 8;

/** The eight groups of an IPv6 address, lower case, without leading zeros. */
function groupsOf(ip: string): string[] {
  // URL writes the canonical form, also of an embedded IPv4 address; a zone names a link of this machine only
  const canonical = new URL(`http://[${ip.split('%', 1)[0]}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  return [...head, ...Array.from({ length: GROUPS - head.length - tail.length }, () => '0'), ...tail];
}

/** The IPv4 address inside an IPv4-mapped IPv6 address, if it is one. */
function mappedIpv4(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 5).some((group) => group !== '0') || groups[5] !== 'ffff') return undefined;
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.');
}

/** An IP address without its zone, and an IPv4-mapped IPv6 address as its IPv4 address. */
export function unmapped(ip: string): string {
  return (isIPv6(ip) ? mappedIpv4(groupsOf(ip)) : undefined) ?? (ip.split('%', 1)[0] as string);
}

/** The network of an address at the given prefix lengths; text that is not an address is returned as it is. */
function networkOf(ip: string, { ipv4, ipv6 }: { ipv4: 24 | 32; ipv6: 48 | 64 }): string {
  const groups = isIPv6(ip) ? groupsOf(ip) : undefined;
  const address = groups ? mappedIpv4(groups) : ip;
  if (groups && address === undefined) return `${groups.slice(0, ipv6 / 16).join(':')}::/${ipv6}`;
  return ipv4 === 24 && isIPv4(address ?? '') ? `${address?.split('.', 3).join('.')}.0/24` : (address ?? '');
}

/**
 * The unit that rate limits count as one caller: an IPv4 address, or the /64 network of an IPv6 address, because one
 * customer may use any address in it. An IPv4-mapped IPv6 address counts as its IPv4 address.
 */
export function addressGroup(ip: string): string {
  return networkOf(ip, { ipv4: 32, ipv6: 64 });
}

/**
 * The unit that rate limits count as one network, in which one party may hold many addresses: /24 of IPv4, /48 of IPv6
 * (decisions H9).
 */
export function addressNetwork(ip: string): string {
  return networkOf(ip, { ipv4: 24, ipv6: 48 });
}
