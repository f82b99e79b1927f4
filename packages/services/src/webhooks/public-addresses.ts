import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';

/**
 * What the special-purpose registries of IANA call not globally reachable, multicast, and what leads to IPv4 by other
 * addresses (6to4). Of IPv6 only global unicast counts as public: the rest holds loopback, link-local, unique local and
 * mapped addresses, and NAT64.
 */
const SPECIAL_IPV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4';
const GLOBAL_IPV6 = '2000::/3';
const SPECIAL_IPV6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20';

/** Time for one try of a DNS query, in milliseconds, and how many there are. */
const DNS_TIMEOUT_MS = 2000;
const DNS_TRIES = 2;

function listOf(networks: string, family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks.split(' ')) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
const specialIPv4 = listOf(SPECIAL_IPV4, 'ipv4');
const globalIPv6 = listOf(GLOBAL_IPV6, 'ipv6');
const specialIPv6 = listOf(SPECIAL_IPV6, 'ipv6');

/** Whether an IP address is globally reachable. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !specialIPv4.check(address, 'ipv4');
  return isIP(address) === 6 && globalIPv6.check(address, 'ipv6') && !specialIPv6.check(address, 'ipv6');
}

/** The name or address in a URL, which its parser has normalized: 0x7f.1 is 127.0.0.1. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

export interface AddressSettings {
  /** Whether any address may be connected to. */
  privateAddresses: boolean;
  /** The DNS servers to ask, as `address:port`. Default: the system's. */
  dnsServers?: readonly string[] | undefined;
}

export type PublicAddresses = ReturnType<typeof createPublicAddresses>;

/**
 * Decides to which addresses a server connects at the wish of others (decisions E2).
 * @param isAllowed for tests
 */
export function createPublicAddresses({ privateAddresses, dnsServers }: AddressSettings, isAllowed = isPublicAddress) {
  // not the system's own look-up: that holds one of the few threads which passwords are hashed in, as long as a name server likes
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (dnsServers) resolver.setServers(dnsServers);

  /** The addresses of a name; none where it does not resolve. */
  async function resolve(name: string): Promise<string[]> {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  }

  /** Looks a name up for a connection, which is made to what is checked here. */
  const lookup: LookupFunction = (name, options, done) => {
    const answer = async () => {
      const addresses = await resolve(name);
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      const [first] = found;
      if (!first) done(Object.assign(new Error('the name does not resolve'), { code: 'ENOTFOUND' }), '');
      else if (!addresses.every(isAllowed)) done(notPublic(), '');
      else if (options.all) done(null, found);
      else done(null, first.address, first.family);
    };
    void answer();
  };

  return {
    /** Whether a URL may be saved: no address of it that is known now is private. A name that does not resolve may be. */
    async maySave(url: URL): Promise<boolean> {
      if (privateAddresses) return true;
      const host = hostOf(url);
      if (isIP(host) !== 0) return isAllowed(host);
      if (/(^|\.)localhost\.?$/.test(host)) return false;
      return (await resolve(host)).every(isAllowed);
    },

    /**
     * What a request to this URL has to connect by. Nothing is looked up where the URL has an address.
     * @throws Error with the code ENOTPUBLIC for an address that is not public
     */
    connectionTo(url: URL): { lookup?: LookupFunction } {
      if (privateAddresses) return {};
      const host = hostOf(url);
      if (isIP(host) !== 0 && !isAllowed(host)) throw notPublic();
      return { lookup };
    },
  };
}

function notPublic(): NodeJS.ErrnoException {
  return Object.assign(new Error('the address is not public'), { code: 'ENOTPUBLIC' });
}
