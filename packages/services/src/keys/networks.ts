import { BlockList, isIP } from 'node:net';
import { unmapped } from '@tandem/core';

const BITS = { 4: 32, 6: 128 } as const;
const MAPPED_BITS = BITS[6] - BITS[4];
const familyOf = (version: 4 | 6) => `ipv${version}` as const;
const versionOf = (address: string) => isIP(address) as 0 | 4 | 6;

interface Network {
  address: string;
  version: 4 | 6;
  prefix: number;
}

/**
 * Reads an address or a network: `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`. One of IPv4-mapped addresses is a network of
 * IPv4.
 * @returns undefined for anything else
 */
function readNetwork(text: string): Network | undefined {
  const [given = '', bits, ...more] = text.split('/');
  const writtenAs = given.includes('%') ? 0 : versionOf(given);
  if (writtenAs === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits ?? '0')) return undefined;
  const written = bits === undefined ? BITS[writtenAs] : Number(bits);
  const address = unmapped(given);
  const version = versionOf(address) as 4 | 6;
  const prefix = version === writtenAs ? written : written - MAPPED_BITS;
  return prefix >= 0 && written <= BITS[writtenAs] ? { address, version, prefix } : undefined;
}

export const isNetwork = (text: string): boolean => readNetwork(text) !== undefined;

/** Makes the test whether an address is in one of these networks. IPv4-mapped addresses count as IPv4. */
export function withinNetworks(networks: readonly string[]): (ip: string) => boolean {
  // one for each version: a network of IPv6 that covers the mapped addresses would match all of IPv4
  const lists = { 4: new BlockList(), 6: new BlockList() };
  for (const { address, version, prefix } of networks.flatMap((text) => readNetwork(text) ?? []))
    lists[version].addSubnet(address, prefix, familyOf(version));
  return (ip) => {
    const address = unmapped(ip);
    const version = versionOf(address);
    return version !== 0 && lists[version].check(address, familyOf(version));
  };
}
