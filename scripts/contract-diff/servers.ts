/** Compares the servers: the environments that clients know, and the one path prefix that all share. */
import { type Changes, compareRest, describe, pairs, toChange } from './change.ts';
import type { Json } from './expand.ts';

/** The path prefixes of the servers: `/v1` once, when they agree. */
export function prefixesOf(servers: Json[] = []): string[] {
  return [...new Set(servers.map(({ url }) => splitUrl(url).prefix))];
}

export function* compareServers(before: Json[] = [], after: Json[] = []): Changes {
  const [was, is] = [prefixesOf(before).join(', '), prefixesOf(after).join(', ')];
  if (was !== is) {
    yield toChange('breaking', 'servers', describe('path prefix', was, is), 'Requests under the old one find nothing.');
  }
  const byOrigin = (servers: Json[]) =>
    Object.fromEntries(servers.map((server) => [splitUrl(server.url).origin, server]));
  for (const [origin, old, now] of pairs(byOrigin(before), byOrigin(after))) {
    const place = `server ${origin || 'of this document'}`;
    if (!now) yield toChange('breaking', place, 'was removed', 'Clients that use it find nothing.');
    else if (!old) yield toChange('compatible', place, 'was added', 'The others work as before.');
    else {
      yield* compareRest(old, now, place, ['url', 'variables']);
      for (const [name, variable = {}, newer = {}] of pairs(old.variables, now.variables)) {
        yield* compareRest(variable, newer, `${place}: variable ${name}`, [], 'Clients that go by it go elsewhere.');
      }
    }
  }
}

/** `{origin}/v1`, `https://host/v1` and `/v1` have the prefix `/v1`. */
function splitUrl(url: string): { origin: string; prefix: string } {
  const [origin = ''] = url.match(/^([a-z]+:\/\/[^/]+|\{\w+\})/) ?? [];
  return { origin, prefix: url.slice(origin.length) };
}
