/** What a server that follows a contract does: probes made from the contract, for every rule that it has. */
import { type Json, type Operation, type Parameter, readOperations } from '../properties/operations.ts';
import { headProbes } from './head-probes.ts';
import { type Probe, passing, refused, toJson, toUrl } from './probe.ts';
import { isValid, plainest, samplesOf } from './samples.ts';

const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'];

/** Spellings of numbers and booleans, beside the one that each has. */
const SPELLINGS = ['1.5', '01', '+1', '1e1', 'true', 'x'];

/** Longer than any server reads. */
const LONG = 'x'.repeat(20_000);

/** In their order: lists are asked for while there is nothing yet, and again when there is more than one page. */
export function probesOf(yaml: string): Probe[] {
  const operations = readOperations(yaml);
  const makers = operations.filter(({ body }) => body);
  const defaults = [...JSON.stringify(operations).matchAll(/"default":(\d+)/g)].map(([, digits]) => Number(digits));
  const isMoreThanAPage = Math.max(0, ...defaults) + 2;
  return [
    ...operations.map((operation) => passing(operation)),
    ...makers.flatMap(bodyProbes),
    ...makers.flatMap((operation) => Array(isMoreThanAPage).fill(passing(operation))),
    ...operations.flatMap(parameterProbes),
    ...operations.flatMap(failureProbes),
    ...headProbes(yaml, operations),
    ...methodProbes(operations),
  ];
}

function parameterProbes(operation: Operation): Probe[] {
  const url = toUrl(operation);
  const extra = `${url}${url.includes('?') ? '&' : '?'}extraParameter=1`;
  return [
    refused(operation, 400, { url: extra }, { names: 'query.extraParameter' }),
    ...operation.parameters.flatMap((parameter) => probesOfParameter(operation, parameter)),
  ];
}

function probesOfParameter(operation: Operation, parameter: Parameter): Probe[] {
  const { name, in: place, isOpaque, schema } = parameter;
  const names = `${place}.${name}`;
  const probes = textsOf(schema).map((text) => {
    const url = toUrl(operation, { [name]: text });
    const isRight = isValid(schema, toValue(schema.type, text));
    return isRight ? passing(operation, { url }, { served: !isOpaque }) : refused(operation, 400, { url }, { names });
  });
  if (place === 'path') return probes;
  const twice = probes
    .filter(({ expect }) => expect.passes)
    .map(({ request: { url } }) => refused(operation, 400, { url: url + url.replace(/.*\?/, '&') }, { names }));
  return [...probes, ...twice.slice(0, 1), probeWithout(operation, parameter)];
}

/** A parameter that is left out is refused, or its default takes its place; the same as if it had been sent. */
function probeWithout(operation: Operation, { name, in: place, required, schema }: Parameter): Probe {
  const url = toUrl(operation, { [name]: null });
  if (required) return refused(operation, 400, { url }, { names: `${place}.${name}` });
  if (schema.default === undefined) return passing(operation, { url });
  const text = String(schema.default);
  const same = operation.method === 'GET' && { sameAs: toUrl(operation, { [name]: text }) };
  return passing(operation, { url }, { finds: { part: 'query', name, text }, ...same });
}

function textsOf(schema: Json): string[] {
  const texts = samplesOf(schema).map(({ value }) => String(value));
  return [...new Set([...texts, ...SPELLINGS])].filter((text) => text !== '' && !/\p{Cs}/u.test(text));
}

/** What the text of a parameter says: a number or boolean where it is spelt as one. */
function toValue(type: string, text: string): Json {
  const isNumber = type === 'integer' || type === 'number';
  if (isNumber && /^-?(0|[1-9][0-9]*)$/.test(text)) return BigInt(text);
  if (type === 'number' && /^-?(0|[1-9][0-9]*)\.[0-9]+$/.test(text)) return Number(text);
  return type === 'boolean' && /^(true|false)$/.test(text) ? text === 'true' : text;
}

function bodyProbes(operation: Operation): Probe[] {
  const { schema, required, maxBytes: most } = operation.body as NonNullable<Operation['body']>;
  const plain = plainest(schema);
  const samples = samplesOf(schema).map(({ value, wrong }) => {
    const body = toJson(value);
    return wrong === undefined
      ? passing(operation, { body })
      : refused(operation, 400, { body }, { names: `body${wrong}` });
  });
  const defaults = Object.entries<Json>(schema.properties ?? {})
    .filter(([name, field]) => field.default !== undefined && !schema.required?.includes(name))
    .map(([name, field]) => {
      const finds = { part: 'body', name, text: String(field.default) } as const;
      return passing(operation, { body: toJson({ ...plain, [name]: undefined }) }, { finds });
    });
  const none = { body: undefined, type: undefined };
  const sized = (bytes: number) => ({ body: toJson(plain).padEnd(bytes) });
  return [
    ...samples,
    ...defaults,
    required ? refused(operation, 400, none, { names: 'body' }) : passing(operation, none),
    refused(operation, 400, { body: '{' }),
    refused(operation, 415, { type: 'text/plain' }),
    ...(most === undefined ? [] : [passing(operation, sized(most)), refused(operation, 413, sized(most + 1))]),
  ];
}

/** Failures that have nothing to do with the request: they show what `default` says, and its headers. */
function failureProbes(operation: Operation): Probe[] {
  return [
    passing(operation, { store: 'down' }, { status: 503, served: false }),
    passing(operation, { store: 'broken' }, { status: 500, served: false }),
    refused(operation, 414, { url: `${toUrl(operation)}?${LONG}` }),
  ];
}

/** 405, with the methods that there are (RFC 9110, section 15.5.6); what takes GET takes HEAD. */
function methodProbes(operations: Operation[]): Probe[] {
  return operations.flatMap((operation): Probe[] => {
    const taken = operations.filter(({ path }) => path === operation.path).map(({ method }) => method);
    const allow = [...taken, ...(taken.includes('GET') ? ['HEAD'] : [])].sort().join(', ');
    const others = METHODS.filter((method) => !taken.includes(method));
    return others.map((method) => ({
      request: { method, url: toUrl(operation), key: 'valid' },
      expect: { passes: false, status: 405, headers: { allow } },
    }));
  });
}
