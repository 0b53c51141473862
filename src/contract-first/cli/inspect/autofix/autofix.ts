/**
 * Corrects a third party's contract: removes keywords without effect, corrects obvious mistakes, and removes promises
 * that this package's servers do not keep. Lists every change. An ambiguous mistake is not corrected, and stays an
 * error.
 */
import { stringify } from 'lossless-json';
import { isNode } from '../../../engine/schema/json.ts';
import { isNames, isValue, lookUp } from '../../../engine/schema/keys.ts';
import { fromPointerToken, toPointerToken } from '../../../json/pointer.ts';
import { fixInt64s } from './int64s.ts';
import { fixReplies } from './replies.ts';
import { fixBodies, fixDefaults, fixParameters } from './requests.ts';
import { fixAddresses, fixMediaTypes, isAddress } from './texts.ts';
import {
  addRequiredProperties,
  type Drop,
  danglesIn,
  dropAlike,
  dropUnused,
  fieldNamesIn,
  openParts,
} from './unfit-schemas.ts';
import type { Node, ReportChange } from './written.ts';

const isText = (value: unknown) => typeof value === 'string';
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const JSON_TYPES: unknown[] = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

type IsRight = (value: unknown, node: Node) => boolean;

/**
 * For each keyword, the values that JSON Schema allows. A keyword with any other value is removed, because it does
 * nothing, and libraries fail at it.
 */
const KEYWORDS: Record<string, IsRight> = {
  title: isText,
  description: isText,
  deprecated: isBoolean,
  examples: Array.isArray,
  // `$id` is always removed, because its value would become the base URI of all references.
  $id: () => false,
  type: (type) => [type].flat().length > 0 && [type].flat().every((one) => JSON_TYPES.includes(one)),
  required: isTexts,
  format: (format, { type }) =>
    isText(format) && (format !== 'int64' || type === undefined || [type].flat().includes('integer')),
};

/** Matches keywords with a numeric value. A number in quotes is corrected, because many authors write it so. */
const NUMBERS = /^((minimum|maximum|multipleOf)|(min|max)(Length|Items|Properties))$/;
const NUMERAL = /^-?[0-9]{1,15}$/;
/**
 * Matches keywords with the value true or false. The two words in quotes are corrected. Any other value is an error,
 * because the author may have wanted to hide a field.
 */
const SWITCHES = /^(readOnly|writeOnly|deprecated|nullable|uniqueItems)$/;
const SWITCH = /^(true|false)$/;

const isQuoted = (key: string, value: string) =>
  (NUMBERS.test(key) && NUMERAL.test(value)) || (SWITCHES.test(key) && SWITCH.test(value));

/**
 * The keyword of the inclusive bound, by the keyword of the exclusive bound. In OpenAPI 3.0, `exclusiveMaximum: true`
 * makes `maximum` exclusive. In 3.1, `exclusiveMaximum` is the bound itself.
 */
const EXCLUSIVE: Record<string, string> = { exclusiveMaximum: 'maximum', exclusiveMinimum: 'minimum' };

/** The allowed values of those fields of an operation that are only documentation. */
const BESIDE: Record<string, IsRight> = {
  summary: isText,
  description: isText,
  operationId: isText,
  tags: isTexts,
  externalDocs: (docs) => isNode(docs) && isAddress(docs.url),
};
const METHOD = /^(get|put|post|delete|options|head|patch|trace)$/;

/** Matches fields that may be missing but must not be null. */
const OMITTABLE =
  /^(content|schema|headers|links|parameters|requestBody|callbacks|servers|components|externalDocs|examples|encoding)$/;

/** Matches fields that the server does not use. If such a field contains a dangling reference, it is removed. */
const UNSERVED = /^(callbacks|links|webhooks|examples?|x-.*)$/;

/** Matches the schema keywords for a schema or a list of schemas. */
const INSIDE =
  /^(items|not|if|then|else|contains|propertyNames|(additional|unevaluated)(Properties|Items)|(all|any|one)Of|prefixItems)$/;
/** Matches the schema keywords for an object with schemas by name. */
const NAMED = /^(properties|patternProperties|dependentSchemas|\$defs|definitions)$/;

/** The kinds of nodes. The keys of the last three kinds are names. */
type Kind = 'schema' | 'operation' | 'response' | 'components' | 'other' | 'schemas' | 'responses' | 'names';

function kindUnder(key: string, kind: Kind): Kind {
  if (kind === 'schema') return NAMED.test(key) ? 'schemas' : INSIDE.test(key) ? 'schema' : 'other';
  if (kind === 'schemas') return 'schema';
  if (kind === 'responses') return 'response';
  if (kind === 'names') return 'other';
  if (key === 'schema' || key === 'schemas' || key === 'responses' || key === 'components') return key;
  return kind === 'components' || isNames(key) ? 'names' : METHOD.test(key) ? 'operation' : 'other';
}

/**
 * Returns the kind of a list's items. `parameters` of `components` is an object with names as keys. `parameters` of an
 * operation is a list of items without names.
 */
const kindWithin = (kind: Kind): Kind => (kind === 'names' ? 'other' : kind);

const isNamed = (kind: Kind) => kind === 'schemas' || kind === 'responses' || kind === 'names';

/** True if a reference leads to a node that must be a schema. */
const isOfSchema = ($ref: string): boolean =>
  $ref
    .slice(2)
    .split('/')
    .reduce<Kind>(
      (kind, step) => (INDEX.test(step) && !isNamed(kind) ? kind : kindUnder(fromPointerToken(step), kind)),
      'other',
    ) === 'schema';
const INDEX = /^[0-9]+$/;

const buildDrop =
  (report: ReportChange): Drop =>
  (node, key, at, why) => {
    delete node[key];
    report(`${at}/${toPointerToken(key)} is taken out: ${why}`);
  };

/**
 * Changes the document itself, not a copy. Returns a text for each change, which begins with the JSON Pointer of the
 * changed node.
 */
export function autofix(document: Node): string[] {
  const changes: string[] = [];
  const isCurrent = !String(document.openapi).startsWith('3.0');
  const names = fieldNamesIn(document);
  const report = (change: string) => changes.push(change);
  const drop = buildDrop(report);

  function visit(node: unknown, at: string, kind: Kind): void {
    if (!isNode(node)) return;
    if (!isNamed(kind) && !Array.isArray(node)) visitOwn(node, at, kind);
    for (const [key, child] of Object.entries(node)) {
      if (!isNamed(kind) && isValue(key)) continue;
      const pointer = `${at}/${toPointerToken(key)}`;
      const within = Array.isArray(node) ? kindWithin(kind) : kindUnder(key, kind);
      if (within === 'schema' && lookUp(document, child) !== undefined && isOfSchema(String(child))) {
        node[key] = { $ref: child };
        report(`${pointer} is written as a reference`);
      } else visit(child, pointer, within);
    }
  }

  function visitOwn(node: Node, at: string, kind: Kind): void {
    const demands = kind === 'schema' ? KEYWORDS : kind === 'operation' ? BESIDE : {};
    for (const [key, value] of Object.entries(node)) {
      if (kind !== 'schema' && OMITTABLE.test(key) && value === null) drop(node, key, at, 'it is empty');
      else if (UNSERVED.test(key) && danglesIn(value, document))
        drop(node, key, at, 'a reference in it leads to nothing');
      else if (kind === 'schema' && isText(value) && isQuoted(key, String(value))) {
        node[key] = NUMERAL.test(String(value)) ? Number(value) : value === 'true';
        changes.push(`${at}/${key} is written without quotes`);
      } else if (kind === 'schema' && isCurrent && key in EXCLUSIVE && isBoolean(value)) {
        writeBound(node, key);
        changes.push(`${at}/${key} is written as OpenAPI 3.1 has it`);
      } else if (Object.hasOwn(demands, key) && !demands[key]?.(value, node))
        drop(node, key, at, `it cannot be ${shown(value)}`);
    }
    if (kind === 'schema') addRequiredProperties(node, at, names, report);
    if (kind === 'schema') dropAlike(node, at, document, report);
    if (kind === 'schema') openParts(node, at, document, report);
    if (kind === 'response') addDescription(node, at, report);
  }

  fixInt64s(document, report);
  visit(document, '', 'other');
  for (const part of [fixAddresses, fixDefaults, fixParameters, fixMediaTypes, fixBodies, fixReplies])
    part(document, report);
  dropUnused(document, drop);
  return changes;
}

function addDescription(node: Node, at: string, report: ReportChange): void {
  if (node.$ref !== undefined || isText(node.description)) return;
  node.description = '';
  report(`${at}/description is written: each response has one`);
}

function writeBound(node: Node, key: string): void {
  const inclusive = EXCLUSIVE[key] as string;
  const { [key]: isExclusive, [inclusive]: bound } = node;
  delete node[key];
  if (!isExclusive || bound === undefined) return;
  node[key] = bound;
  delete node[inclusive];
}

const shown = (value: unknown) => stringify(value)?.slice(0, 40);
