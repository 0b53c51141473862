/** Finds the address of a client, in canonical form. Text in `X-Forwarded-For` that is not an address is ignored. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import { LRUCache } from 'lru-cache';

/**
 * Matches an address in the forms that proxies write, with or without port and zone: `192.0.2.1:80`,
 * `[2001:DB8::1]:80`, `fe80::1%eth0`.
 */
const FORM = /^(?:\[([\da-f:.]+)(?:%\w+)?\]|([\d.]+))(?::\d{1,5})?$|^([\da-f:.]+)(?:%\w+)?$/i;

/** The longest text that is looked up as an address, in characters. Addresses with zone and port are shorter. */
const MAX_ADDRESS_LENGTH = 100;

/** The word in `TRUST_PROXY` for a proxy that connects through a Unix socket, and therefore without an address. */
const UNIX = 'unix';

/**
 * Converts an address to its canonical form (RFC 5952), and an IPv4-mapped address to IPv4. Returns undefined if the
 * text is not an address.
 */
function toAddress(text: string): string | undefined {
  const [, inBrackets, ipv4, plain = inBrackets ?? ipv4 ?? ''] = FORM.exec(text) ?? [];
  if (isIP(plain) !== 6) return isIP(plain) === 4 ? plain : undefined;
  return new SocketAddress({ address: plain, family: 'ipv6' }).address.replace(/^::ffff:(?=[\d.]+$)/, '');
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * True if a trusted proxy has this address. The address is undefined for a connection through a Unix socket, and for a
 * connection that the client reset before it was accepted.
 */
export type IsProxy = (address: string | undefined) => boolean;

/**
 * Builds the test for trusted proxies. `ranges` contains ranges of addresses such as `10.0.0.0/8`, or the word `unix`.
 * Without ranges, no proxy is trusted, and the result is undefined. `isUnix` returns whether the server listens on a
 * Unix socket.
 */
export function buildIsProxy(ranges: readonly string[], isUnix: () => boolean): IsProxy | undefined {
  if (ranges.length === 0) return undefined;
  const trusted = new BlockList();
  for (const range of ranges.filter((range) => range !== UNIX)) {
    const [address, bits] = range.split('/') as [string, string | undefined];
    const family = familyOf(address);
    trusted.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  const isTrusted = (text: string) => {
    const address = toAddress(text);
    return address !== undefined && trusted.check(address, familyOf(address));
  };
  const trustsUnix = ranges.includes(UNIX);
  /** Caches the result for each address, because searching the list takes 3 µs, and each request needs two searches. */
  const known = new LRUCache<string, boolean>({ max: 1000 });
  return (text) => {
    if (text === undefined) return trustsUnix && isUnix();
    const before = text.length > MAX_ADDRESS_LENGTH ? false : known.get(text);
    if (before !== undefined) return before;
    const isOne = isTrusted(text);
    known.set(text, isOne);
    return isOne;
  };
}

/**
 * Returns the address of a request's client. Unlike Fastify's `request.ip`, the function also finds the client through
 * proxies if the URL is malformed.
 */
export type ToAddress = (raw: IncomingMessage) => string | undefined;

/**
 * Builds the function that finds a client's address. In the chain of trusted proxies, this is the address that the
 * proxy farthest from the server reports; if that proxy reports none, it is the proxy's own address. The function
 * returns undefined for a connection without an address. `isProxy` is undefined if no proxy is trusted.
 */
export function buildToAddress(isProxy: IsProxy | undefined): ToAddress {
  if (isProxy === undefined) return ({ socket }) => socket.remoteAddress;
  return (raw) => {
    const ips = proxyAddr.all(raw, isProxy);
    const ip = ips.at(-1) as string;
    return ips.length === 1 ? ip : (toAddress(ip) ?? toAddress(String(ips.at(-2))));
  };
}
