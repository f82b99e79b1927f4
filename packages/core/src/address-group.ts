import { isIPv4, isIPv6 } from 'node:net';

const GROUPS = 8;

/** The eight groups of an IPv6 address, in lower case, without leading zeros. */
function groupsOf(ip: string): string[] {
  // in its one canonical form, also where it ends in an IPv4 address; a zone is of this machine's own links
  const canonical = new URL(`http://[${ip.split('%', 1)[0]}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  return [...head, ...Array.from({ length: GROUPS - head.length - tail.length }, () => '0'), ...tail];
}

/** The IPv4 address in the clothes of an IPv6 one, if it is one. */
function mappedIpv4(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 5).some((group) => group !== '0') || groups[5] !== 'ffff') return undefined;
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.');
}

/** The networks of an address by the lengths of their prefixes; what is no address stands for itself. */
function networkOf(ip: string, { ipv4, ipv6 }: { ipv4: 24 | 32; ipv6: 48 | 64 }): string {
  const groups = isIPv6(ip) ? groupsOf(ip) : undefined;
  const address = groups ? mappedIpv4(groups) : ip;
  if (groups && address === undefined) return `${groups.slice(0, ipv6 / 16).join(':')}::/${ipv6}`;
  return ipv4 === 24 && isIPv4(address ?? '') ? `${address?.split('.', 3).join('.')}.0/24` : (address ?? '');
}

/**
 * What counts as one caller: an IPv4 address, or the /64 network of an IPv6 one, out of which one customer may take any address.
 * An IPv4 address in the clothes of IPv6 counts for itself.
 */
export function addressGroup(ip: string): string {
  return networkOf(ip, { ipv4: 32, ipv6: 64 });
}

/** What counts as one network, out of which somebody may have many addresses: /24 of IPv4, /48 of IPv6 (decisions H9). */
export function addressNetwork(ip: string): string {
  return networkOf(ip, { ipv4: 24, ipv6: 48 });
}
