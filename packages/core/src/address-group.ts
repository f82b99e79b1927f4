import { isIPv6 } from 'node:net';

const GROUPS = 8;

/** The eight groups of an IPv6 address, in lower case, without leading zeros. */
function groupsOf(ip: string): string[] {
  // in its one canonical form, also where it ends in an IPv4 address; a zone is of this machine's own links
  const canonical = new URL(`http://[${ip.split('%', 1)[0]}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  return [...head, ...Array.from({ length: GROUPS - head.length - tail.length }, () => '0'), ...tail];
}

/**
 * What counts as one caller: an IPv4 address, or the /64 network of an IPv6 one, out of which one customer may take any address.
 * An IPv4 address in the clothes of IPv6 counts for itself.
 */
export function addressGroup(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const groups = groupsOf(ip);
  if (groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff') {
    const bytes = groups.slice(6).flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
    return bytes.join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
