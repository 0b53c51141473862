/** Checks that a document is valid OpenAPI, and that each operation can be read. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { ContractError } from '../../engine/contract/contract.ts';
import type { Document, MediaNode, OperationNode, ParameterNode, PathItem } from '../../engine/contract/document.ts';
import { type Fault, toFaults } from '../../engine/schema/faults.ts';
import { type ContractProblem, isMap, isNode, type ReportProblem, type Schema } from '../../engine/schema/json.ts';
import { toPointer } from '../../engine/schema/keys.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { reportKeywordTypes } from './keyword-types.ts';
import { mapPaths, resolvedItem } from './normal-form.ts';

/**
 * The validator for all contracts, which is shared because compiling OpenAPI's schema takes longer than the rest of a
 * start.
 */
const VALIDATOR = new Validator();
const { validate } = Validator.prototype;
type Errors = Parameters<typeof toFaults>[0];
/**
 * The private method of the validator that ignores references. The public method `validate` follows recursive
 * references without end.
 */
interface Compiled {
  getAjvValidator(version: '3.1'): ((document: object) => boolean) & { errors: Errors };
}

const DANGLING = /^Can't resolve (.*?)(?:, only internal refs are supported\.)?$/;

/**
 * The advice for a document of Swagger 2. The tool converts most of the document, and the build then reports the
 * remaining problems with their locations.
 */
const CONVERT = 'convert it to 3.1: npx @scalar/cli document upgrade <file> --output <file>';

/** The default dialect of schemas (OpenAPI 3.1, section 4.8.24.5), and the dialect that it is based on. */
const DIALECTS: unknown[] = [
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://json-schema.org/draft/2020-12/schema',
];

/**
 * Returns a dangling reference as a problem, or undefined if the document is valid.
 * @throws ContractError that lists all other problems
 */
export async function findInvalid(document: Record<string, unknown>): Promise<ContractProblem | undefined> {
  const { openapi, swagger, jsonSchemaDialect = DIALECTS[0] } = document;
  if (swagger !== undefined) throw new ContractError([`it is OpenAPI ${swagger}; ${CONVERT}`]);
  if (openapi !== undefined && !String(openapi).startsWith('3.1.')) {
    throw new ContractError([
      { words: `openapi: ${openapi} is not supported: write it as 3.1.1`, pointer: '/openapi' },
    ]);
  }
  if (!DIALECTS.includes(jsonSchemaDialect)) {
    throw new ContractError([
      {
        words: `jsonSchemaDialect: ${jsonSchemaDialect} is not supported: remove it, for JSON Schema 2020-12`,
        pointer: '/jsonSchemaDialect',
      },
    ]);
  }
  const whole = withItems(document);
  const { valid, errors } = await validate.call(VALIDATOR, whole);
  if (valid) return undefined;
  const reference = DANGLING.exec(String(errors))?.[1] ?? (Array.isArray(errors) ? undefined : malformedOf(document));
  if (reference !== undefined)
    return { words: `$ref ${reference} is not in this document`, pointer: findReference(reference, document) };
  const problems = describe(errors);
  // The validator has found errors only in parts that no operation uses. The validator stops at the first error, so the
  // paths are checked once more without these parts.
  if (problems.length === 0) problems.push(...describe(findErrors(whole.paths)));
  if (problems.length > 0) throw new ContractError(problems);
  return undefined;
}

/** Replaces each path item that is a reference by its target. */
function withItems(document: Record<string, unknown>): Record<string, unknown> {
  return isMap(document.paths)
    ? { ...mapPaths(document as Document, (item) => resolvedItem(item, document)) }
    : document;
}

/**
 * Finds the first reference with percent-encoding that is not UTF-8, because the validator's error does not name it.
 */
const malformedOf = (document: object): string | undefined =>
  [...JSON.stringify(document).matchAll(/"\$ref":"(.*?)"/g)]
    .map(([, $ref]) => $ref as string)
    .find(($ref) => toPointer(`#/${$ref}`) === undefined);

/** Returns the JSON Pointer of the first reference with this text. */
function findReference($ref: string, node: unknown, at = ''): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.$ref === $ref) return `${at}/$ref`;
  for (const [key, inside] of Object.entries(node)) {
    const found = findReference($ref, inside, at + toPointerOf(key));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Matches the pointers of parts that no operation uses directly. Only the lint reports faults in these parts. A faulty
 * component is reported with each operation that refers to it.
 */
const UNUSED = /^\/(info|servers|tags|externalDocs|webhooks|components|security|x-[^/]*)\//;

/**
 * Matches the faults in `UNUSED` parts that are reported all the same, because the server reads these parts of every
 * contract.
 */
const READ_PARTS = /^\/(info(\/title)?|servers|components(\/\w+)?|security) (must be|needs title)/;

function describe(errors: unknown): ContractProblem[] {
  if (!Array.isArray(errors)) return [{ words: String(errors) }];
  const faults = toFaults(errors).filter(
    ({ pointer, words }) => !UNUSED.test(`${pointer}/`) || READ_PARTS.test(`${pointer} ${words}`),
  );
  return faults.map(({ pointer, words }) => ({ words: `${pointer || '/'} ${words}`, pointer }));
}

function findErrors(paths: unknown): Errors {
  const check = (VALIDATOR as unknown as Compiled).getAjvValidator('3.1');
  return check({ openapi: '3.1.1', info: { title: '', version: '' }, paths }) ? [] : check.errors;
}

/**
 * Returns the first fault of an operation with resolved references, with its pointer inside the operation. Does not
 * check schemas.
 */
function findFault(operation: object): Fault | undefined {
  const [fault] = toFaults(findErrors({ '/': { get: operation } }));
  return fault && { ...fault, pointer: fault.pointer.slice('/paths/~1/get'.length) };
}

/** A part of an operation, such as its body, and a smaller operation that contains only this part. */
interface Part {
  name: string;
  /** The JSON Pointer to the part in the complete operation. */
  pointer: string;
  /** The JSON Pointer to the same part in the document `alone`. */
  at: string;
  alone: Record<string, unknown>;
}

/**
 * Reports the faults of an operation, and returns true for an operation without faults. A component is checked in each
 * operation that uses it.
 */
export function isValidOperation(item: PathItem, operation: OperationNode, report: ReportProblem): boolean {
  const problems = partsOf(item, operation).flatMap(findPartProblems);
  // Schemas can be found only if the parts that contain them are valid.
  if (problems.length === 0)
    for (const [name, pointer, schema] of schemasOf(item, operation))
      if (schema !== undefined)
        reportKeywordTypes(schema, name, (words, inside) => problems.push({ words, pointer: pointer + inside }));
  for (const { words, pointer } of problems) report(words, pointer);
  return problems.length === 0;
}

function findPartProblems({ name, pointer, at, alone }: Part): ContractProblem[] {
  const fault = findFault(alone);
  if (!fault) return [];
  const inside = fault.pointer.slice(at.length);
  const within = inside.replace(/^\/headers\/([^/]+)/, ' header $1:').replace(/^\/|(?<=:)\//, ' ');
  return [{ words: `${name}:${within} ${fault.words}`, pointer: pointer + inside }];
}

/** Splits an operation into its parts, which are checked separately because the validator stops at the first fault. */
function partsOf(item: PathItem, { parameters = [], requestBody, responses = {} }: OperationNode): Part[] {
  return [
    ...[...(item.parameters ?? []), ...parameters].map((one) => ({
      ...(isNamed(one)
        ? { name: `parameter ${one.name}`, pointer: toPointerOf('parameters', one.name) }
        : { name: 'a parameter', pointer: '' }),
      ...{ at: '/parameters/0', alone: { parameters: [one] } },
    })),
    ...(requestBody === undefined ? [] : [{ name: 'its body', ...at('/requestBody'), alone: { requestBody } }]),
    ...Object.entries(responses).map(([status, one]) => {
      return { name: `response ${status}`, ...at(`/responses/${status}`), alone: { responses: { [status]: one } } };
    }),
  ];
}

const at = (pointer: string) => ({ pointer, at: pointer });

const isNamed = (one: unknown): one is ParameterNode => isNode(one) && typeof one.name === 'string';

type Named = [name: string, pointer: string, schema: Schema | undefined];

function schemasOf(item: PathItem, { parameters = [], requestBody, responses = {} }: OperationNode): Named[] {
  const all = [...(item.parameters ?? []), ...parameters];
  return [
    ...all.flatMap(({ name, schema, content }) => {
      const pointer = toPointerOf('parameters', name);
      return [[`parameter ${name}`, pointer, schema] as Named, ...ofContents(`parameter ${name}`, pointer, content)];
    }),
    ...ofContents('request.body', '/requestBody', requestBody?.content),
    ...Object.entries(responses).flatMap(([status, { content, headers = {} }]) => {
      const pointer = toPointerOf('responses', status);
      const ofHeaders = Object.entries(headers).map(([name, { schema }]): Named => {
        return [`response ${status}: header ${name}`, pointer + toPointerOf('headers', name), schema];
      });
      return [...ofContents(`response ${status}: body`, pointer, content), ...ofHeaders];
    }),
  ];
}

const ofContents = (name: string, pointer: string, content: Record<string, MediaNode> = {}) =>
  Object.entries(content).map(
    ([type, { schema }]): Named => [name, pointer + toPointerOf('content', type, 'schema'), schema],
  );
