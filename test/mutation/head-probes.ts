/** Probes of the headers that repeat what the contract says: the challenge to those without a key, and a deprecation. */
import { parse } from 'yaml';
import type { Json, Operation } from '../properties/operations.ts';
import { type Expectation, type Probe, passing, refused } from './probe.ts';

export function headProbes(yaml: string, operations: Operation[]): Probe[] {
  return parseHeads(yaml, operations).flatMap(probesOfHeads);
}

/** What the contract says of an operation that the headers of its replies repeat. */
interface Heads {
  operation: Operation;
  realm: string;
  deprecation: Record<string, string | null>;
}

function parseHeads(yaml: string, operations: Operation[]): Heads[] {
  const { info, paths } = parse(yaml);
  const sources = Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item));
  return operations.map((operation) => {
    const source = sources.find(({ operationId }) => operationId === operation.id);
    const successor = operations.find(({ id }) => id === source['x-successor']);
    return { operation, realm: info.title, deprecation: toDeprecation(source, successor?.path) };
  });
}

/** RFC 9745, RFC 8594 and the link relation of RFC 5829. */
function toDeprecation(source: Json, successor: string | undefined): Heads['deprecation'] {
  if (!source.deprecated) return { deprecation: null, sunset: null };
  return {
    deprecation: `@${Date.parse(source['x-deprecated-at']) / 1000}`,
    sunset: new Date(source['x-sunset']).toUTCString(),
    link: `<${successor}>; rel="successor-version"`,
  };
}

/** The challenge is that of RFC 6750, section 3. */
function probesOfHeads({ operation, realm, deprecation }: Heads): Probe[] {
  const challenge = `Bearer realm="${realm}"`;
  const refusedWith = (header: string): Partial<Expectation> => ({
    headers: { ...deprecation, 'www-authenticate': header },
  });
  const keyless = operation.isSecured
    ? [
        refused(operation, 401, { key: 'none' }, refusedWith(challenge)),
        refused(operation, 401, { key: 'unknown' }, refusedWith(`${challenge}, error="invalid_token"`)),
      ]
    : [passing(operation, { key: 'none' })];
  return [passing(operation, {}, { headers: deprecation }), ...keyless];
}
