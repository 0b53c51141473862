/** The address of a client, in canonical form. In `X-Forwarded-For`, everything but addresses is ignored. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import { LRUCache } from 'lru-cache';

/** An address with or without port and zone, as proxies write it: `192.0.2.1:80`, `[2001:DB8::1]:80`, `fe80::1%eth0`. */
const FORM = /^(?:\[([\da-f:.]+)(?:%\w+)?\]|([\d.]+))(?::\d{1,5})?$|^([\da-f:.]+)(?:%\w+)?$/i;

/** The longest address with zone and port, in characters. */
const MAX_ADDRESS_LENGTH = 100;

/** In `TRUST_PROXY`: a proxy that connects by a Unix socket, and so without an address. */
const UNIX = 'unix';

/** The address in canonical form (RFC 5952), an IPv4-mapped one as IPv4; undefined if the text is not an address. */
function toAddress(text: string): string | undefined {
  const [, inBrackets, ipv4, plain = inBrackets ?? ipv4 ?? ''] = FORM.exec(text) ?? [];
  if (isIP(plain) !== 6) return isIP(plain) === 4 ? plain : undefined;
  return new SocketAddress({ address: plain, family: 'ipv6' }).address.replace(/^::ffff:(?=[\d.]+$)/, '');
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Whether this is the address of a trusted proxy; undefined for a Unix socket, or a connection reset before it was accepted. */
export type IsProxy = (address: string | undefined) => boolean;

/** `ranges` such as `10.0.0.0/8`, or `unix`. Undefined without ranges. `isUnix`: whether the server listens on a Unix socket. */
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
  /** A cache: a look into the list takes 3 µs, and each request needs two. */
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

/** Returns the address of a request's client. Not `request.ip`: for a request with a bad URL, that is the proxy's. */
export type ToAddress = (raw: IncomingMessage) => string | undefined;

/**
 * The address reported by the last trusted proxy, or the proxy's own if it reports none; undefined on a connection without an address.
 * `isProxy` is undefined if no proxy is trusted.
 */
export function buildToAddress(isProxy: IsProxy | undefined): ToAddress {
  if (isProxy === undefined) return ({ socket }) => socket.remoteAddress;
  return (raw) => {
    const ips = proxyAddr.all(raw, isProxy);
    const ip = ips.at(-1) as string;
    return ips.length === 1 ? ip : (toAddress(ip) ?? toAddress(String(ips.at(-2))));
  };
}
