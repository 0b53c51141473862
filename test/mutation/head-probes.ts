/** Probes of the headers that repeat what the contract says: the challenge to those without a key, and a deprecation. */
import { parse } from 'yaml';
import type { Json, Operation } from '../properties/operations.ts';
import { type Probe, type ProbeRequest, passing, refused } from './probe.ts';

/** The challenge is that of RFC 6750, section 3. */
export function headProbes(yaml: string, operations: Operation[]): Probe[] {
  const { info, paths } = parse(yaml);
  const sources = Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item));
  const challenge = `Bearer realm="${info.title}"`;
  return operations.flatMap((operation) => {
    const source = sources.find(({ operationId }) => operationId === operation.id);
    const successor = operations.find(({ id }) => id === source['x-successor']);
    const headers = toDeprecation(source, successor?.path);
    const challenged = (key: ProbeRequest['key'], header: string) =>
      refused(operation, 401, { key }, { headers: { ...headers, 'www-authenticate': header } });
    const keyless = operation.isSecured
      ? [challenged('none', challenge), challenged('unknown', `${challenge}, error="invalid_token"`)]
      : [passing(operation, { key: 'none' })];
    return [passing(operation, {}, { headers }), ...keyless];
  });
}

/** RFC 9745, RFC 8594 and the link relation of RFC 5829. */
function toDeprecation(source: Json, successor: string | undefined): Record<string, string | null> {
  if (!source.deprecated) return { deprecation: null, sunset: null };
  return {
    deprecation: `@${Date.parse(source['x-deprecated-at']) / 1000}`,
    sunset: new Date(source['x-sunset']).toUTCString(),
    link: `<${successor}>; rel="successor-version"`,
  };
}
