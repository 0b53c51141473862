/** The address of a client: of `X-Forwarded-For` only addresses count, each in one spelling. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined where no proxy is trusted. */
    isProxy: IsProxy | undefined;
  }
}

/** `192.0.2.1:80`, `[2001:DB8::1]:80` and `fe80::1%eth0`, as proxies write them, too. */
const FORM = /^(?:\[([\da-f:.]+)(?:%\w+)?\]|([\d.]+))(?::\d{1,5})?$|^([\da-f:.]+)(?:%\w+)?$/i;

/** No address is longer, with its zone and port, in characters. */
const LONGEST = 100;

/** In `TRUST_PROXY`: who connects by a Unix socket, whose clients have no address. */
export const UNIX = 'unix';

/** The address in its canonical form (RFC 5952), one of IPv4 as such; undefined where it is none. */
function toAddress(text: string): string | undefined {
  const [, inBrackets, ipv4, plain = inBrackets ?? ipv4 ?? ''] = FORM.exec(text) ?? [];
  if (isIP(plain) !== 6) return isIP(plain) === 4 ? plain : undefined;
  return new SocketAddress({ address: plain, family: 'ipv6' }).address.replace(/^::ffff:(?=[\d.]+$)/, '');
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Whether this is the address of a trusted proxy. A connection has none that is by a Unix socket, or was reset before it was accepted. */
export type IsProxy = (address: string | undefined) => boolean;

/** By ranges such as `10.0.0.0/8`, and `unix`; undefined where there is none. `isUnix` says whether the server listens on a Unix socket. */
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
  /** A look into the list takes 3 µs, and a request two of them. */
  const known = new LRUCache<string, boolean>({ max: 1000 });
  return (text) => {
    if (text === undefined) return trustsUnix && isUnix();
    const before = text.length > LONGEST ? false : known.get(text);
    if (before !== undefined) return before;
    const isOne = isTrusted(text);
    known.set(text, isOne);
    return isOne;
  };
}

export function addClientAddresses(app: FastifyInstance, isProxy: IsProxy | undefined): void {
  app.decorate('isProxy', isProxy);
  // Node keeps what it was asked once; when a client has reset its connection, the system no longer tells it.
  app.server.prependListener('connection', (socket) => socket.remoteAddress);
}

/** A request of Fastify's, or of Node's with the app: Fastify's own address of one with a bad URL is that of the proxy. */
type Sent = { raw: IncomingMessage; server: FastifyInstance };

/** The address that the last trusted proxy told; the proxy's own where it told none. Undefined where the connection has no address. */
export function toClientAddress({ raw, server }: Sent): string | undefined {
  const { isProxy } = server;
  if (isProxy === undefined) return raw.socket.remoteAddress;
  const ips = proxyAddr.all(raw, isProxy);
  const ip = ips.at(-1) as string;
  return ips.length === 1 ? ip : (toAddress(ip) ?? toAddress(String(ips.at(-2))));
}
