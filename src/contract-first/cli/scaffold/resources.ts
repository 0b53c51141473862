/** Recognises resources in a contract: `…/books` with `…/books/{bookId}`, and a schema of the contract for their records. */
import { componentNameOf, type DocumentSource, toSource } from '../../contract/page/source.ts';
import type { Operation, ReadContract, Reply } from '../../engine/contract/contract.ts';
import type { MediaNode, ResponseNode } from '../../engine/contract/document.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import { toMediaType } from '../../engine/contract/replies.ts';
import { keywordsOf, type Schema } from '../../engine/schema/json.ts';

export type OperationKind = 'create' | 'get' | 'list' | 'update' | 'replace' | 'delete';

/** A body of a reply or a request with a record, or a list of them, in the field of an envelope or as a whole. */
export interface Envelope {
  /** The name of the record's schema. */
  record: string;
  isList: boolean;
  /** Undefined if the record is the whole body. */
  field: string | undefined;
}

export interface Resource {
  /** The name of the collection: `books`. */
  name: string;
  /** The word for a record: `book`. */
  noun: string;
  /** The name of the schema of its records. */
  record: string;
  /** The parameter in the path of a record. */
  parameter: string;
  operations: Map<OperationKind, Operation>;
}

/** A reason for each operation that is not part of a resource, by operationId. */
export interface Recognised {
  resources: Resource[];
  reasons: Map<string, string>;
}

/** The words of a name: only letters and digits. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);

const toCamel = (words: string[]): string =>
  words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');

const toSingular = (words: string[]): string =>
  words
    .join(' ')
    .replace(/ies$/, 'y')
    .replace(/(?<=ss|sh|ch|x)es$/, '')
    .replace(/(?<!s)s$/, '');

/** Names that a handler's argument has already, and words of the language. */
const TAKEN =
  /^(params|query|headers|body|content|services|caller|log|request|reply|accepts|idempotency|accept|default|delete|new|in|for|if|do|let|var|enum|class|case|void|this|with|try|import|export|function|return|switch|while|yield|await|static|public|package|private|interface|handle|refuse)$/;

export function recognise(contract: ReadContract): Recognised {
  const source = toSource(contract);
  const reasons = new Map<string, string>();
  const resources: Resource[] = [];
  const operations = [...contract.operations.values()];
  for (const operation of operations) reasons.set(operation.id, 'no resource is at its path');
  const paths = [...new Set(operations.map(({ path }) => path))];
  for (const path of paths.filter((one) => /\/[^/{}]+\/\{[^{}/]+\}$/.test(one))) {
    const made = toResource(path, operations, source, reasons);
    if (!made) continue;
    if (resources.some(({ name, record }) => name === made.name || record === made.record))
      for (const { id } of made.operations.values()) reasons.set(id, `another resource stores ${made.record}`);
    else {
      resources.push(made);
      for (const { id } of made.operations.values()) reasons.delete(id);
    }
  }
  return { resources, reasons };
}

function toResource(
  path: string,
  all: Operation[],
  source: DocumentSource,
  reasons: Map<string, string>,
): Resource | undefined {
  const base = path.slice(0, path.lastIndexOf('/'));
  const names = namesIn(path);
  const found = new Map<OperationKind, Operation>();
  for (const operation of all) {
    const kind = kindOf(operation, base, path);
    if (kind) found.set(kind, operation);
  }
  const skipAll = (reason: string) => {
    for (const { id } of found.values()) reasons.set(id, reason);
    return undefined;
  };
  if (names.length > 1) return skipAll('its path has the id of a parent');
  const words = wordsOf(base.slice(base.lastIndexOf('/') + 1));
  const name = toCamel(words);
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) return skipAll('its path gives no name for a collection');
  const order: OperationKind[] = ['get', 'list', 'create', 'update', 'replace'];
  const envelopes = order.map((kind) => found.get(kind)).map((one) => one && envelopeOf(one, source));
  const record = envelopes.find((one) => one)?.record;
  if (record === undefined) return skipAll('no reply has a record that is a schema of the contract');
  const noun = toSingular(words);
  return {
    name: TAKEN.test(name) ? `${name}Records` : name,
    noun,
    record,
    parameter: names[0] as string,
    operations: found,
  };
}

function kindOf({ method, path }: Operation, base: string, item: string): OperationKind | undefined {
  if (path === base) return ({ GET: 'list', POST: 'create', PUT: 'replace' } as Record<string, OperationKind>)[method];
  const kinds = { GET: 'get', PATCH: 'update', PUT: 'replace', DELETE: 'delete' } as Record<string, OperationKind>;
  return path === item ? kinds[method] : undefined;
}

/** The first reply that is a success. */
export const successOf = ({ replies }: Operation): Reply | undefined =>
  replies.filter(({ status }) => /^2\d\d$/.test(status)).sort((a, b) => Number(a.status) - Number(b.status))[0];

/** The schema of a reply, with its references. */
export function schemaOfReply(operation: Operation, reply: Reply, source: DocumentSource): Schema | undefined {
  const { responses = {} } = source.nodesOf(operation).source;
  const { content = {} } = source.follow(responses[reply.status]) as ResponseNode;
  const media = Object.entries(content).find(([name]) => toMediaType(name) === reply.type)?.[1];
  return (source.follow(media) as MediaNode | undefined)?.schema;
}

export function envelopeOf(operation: Operation, source: DocumentSource): Envelope | undefined {
  const reply = successOf(operation);
  const schema = reply?.isJson && reply.hasContent ? schemaOfReply(operation, reply, source) : undefined;
  return schema === undefined ? undefined : findEnvelope(schema, source);
}

/** A record that is the whole body, or one field of it; a list likewise. */
function findEnvelope(schema: Schema, source: DocumentSource): Envelope | undefined {
  const own = toRecord(schema, source);
  const { properties = {} } = source.flat(schema);
  const fields = Object.entries(properties).flatMap(([field, one]) => {
    const inside = toRecord(one, source);
    const isNamed = /^(data|result|results|items|records|content|values|entries)$/i.test(field);
    return inside && (inside.isList || isNamed) ? [{ ...inside, field }] : [];
  });
  const lists = fields.filter(({ isList }) => isList);
  const isEnvelope =
    lists.length === 1 && Object.keys(properties).every((name) => name === lists[0]?.field || isPaging(name));
  if (isEnvelope) return lists[0];
  if (own) return { ...own, field: undefined };
  return fields.length === 1 && Object.keys(properties).length === 1 ? fields[0] : undefined;
}

/** Whether a field of an envelope is about the page. */
export const isPaging = (name: string): boolean =>
  /^(total|count|size|limit|offset|skip|page|pages|next|has|per|current|cursor|after|number)/i.test(name);

function toRecord(schema: Schema, source: DocumentSource): { record: string; isList: boolean } | undefined {
  const { type, items } = source.flat(schema);
  const isList = type === 'array';
  const name = componentNameOf(isList ? keywordsOf(items) : schema);
  if (name === undefined) return undefined;
  const target = source.flat({ $ref: `#/components/schemas/${name}` });
  return target.properties && !target.oneOf && !target.anyOf ? { record: name, isList } : undefined;
}
