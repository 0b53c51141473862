/** The address of a client: of `X-Forwarded-For` only addresses count, each in one spelling. */
import { BlockList, isIP, SocketAddress } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

/** `192.0.2.1:80`, `[2001:DB8::1]:80` and `fe80::1%eth0`, as proxies write them, too. */
const FORM = /^(?:\[([\da-f:.]+)(?:%\w+)?\]|([\d.]+))(?::\d{1,5})?$|^([\da-f:.]+)(?:%\w+)?$/i;

/** No address is longer, with its zone and port, in characters. */
const LONGEST = 100;

/** The address in its canonical form (RFC 5952), one of IPv4 as such; undefined where it is none. */
function toAddress(text: string): string | undefined {
  const [, inBrackets, ipv4, plain = inBrackets ?? ipv4 ?? ''] = FORM.exec(text) ?? [];
  if (isIP(plain) !== 6) return isIP(plain) === 4 ? plain : undefined;
  return new SocketAddress({ address: plain, family: 'ipv6' }).address.replace(/^::ffff:(?=[\d.]+$)/, '');
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** For Fastify's option `trustProxy`: whether an address is that of a proxy in these ranges, such as `10.0.0.0/8`. */
export function buildTrust(ranges: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const range of ranges) {
    const [address, bits] = range.split('/') as [string, string | undefined];
    const family = familyOf(address);
    trusted.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  const isTrusted = (text: string) => {
    const address = toAddress(text);
    return address !== undefined && trusted.check(address, familyOf(address));
  };
  /** A look into the list takes 3 µs, and a request two of them. */
  const known = new LRUCache<string, boolean>({ max: 1000 });
  return (text) => {
    const before = text.length > LONGEST ? false : known.get(text);
    if (before !== undefined) return before;
    const isOne = isTrusted(text);
    known.set(text, isOne);
    return isOne;
  };
}

/** What the last trusted proxy told; its own address where that is none. Undefined where the client has reset its connection. */
export function toClientAddress(request: FastifyRequest): string | undefined {
  // Each is worked out whenever it is asked for.
  const { ips } = request;
  if (ips === undefined) return request.ip;
  const ip = ips.at(-1) as string;
  return ips.length === 1 ? ip : (toAddress(ip) ?? toAddress(ips.at(-2) as string));
}
