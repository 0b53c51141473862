/** Checks that a document is valid OpenAPI, and that each operation can be read. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { ContractError } from '../../engine/contract/contract.ts';
import type { Document, MediaNode, OperationNode, ParameterNode, PathItem } from '../../engine/contract/document.ts';
import { type Fault, toFaults } from '../../engine/schema/faults.ts';
import { isMap, isNode, type ReportProblem, type Schema } from '../../engine/schema/json.ts';
import { toPointer } from '../../engine/schema/keys.ts';
import { reportKeywordTypes } from './keyword-types.ts';
import { mapPaths, resolvedItem } from './normal-form.ts';

/** Shared by all contracts: compiling OpenAPI's schema takes longer than everything else at a start. */
const VALIDATOR = new Validator();
const { validate } = Validator.prototype;
type Errors = Parameters<typeof toFaults>[0];
/** The part of the validator that ignores references: `validate` would follow the references of schemas without end. */
interface Compiled {
  getAjvValidator(version: '3.1'): ((document: object) => boolean) & { errors: Errors };
}

const DANGLING = /^Can't resolve (.*?)(?:, only internal refs are supported\.)?$/;

/** The advice for Swagger 2. The tool converts most of a document; the build reports the rest with its location. */
const CONVERT = 'convert it to 3.1: npx @scalar/cli document upgrade <file> --output <file>';

/** The default dialect of schemas (OpenAPI 3.1, section 4.8.24.5), and the dialect that it is based on. */
const DIALECTS: unknown[] = [
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://json-schema.org/draft/2020-12/schema',
];

/** Returns the problem if it is only a dangling reference. @throws ContractError that lists all other problems */
export async function findInvalid(document: Record<string, unknown>): Promise<string | undefined> {
  const { openapi, swagger, jsonSchemaDialect = DIALECTS[0] } = document;
  if (swagger !== undefined) throw new ContractError([`it is OpenAPI ${swagger}; ${CONVERT}`]);
  if (openapi !== undefined && !String(openapi).startsWith('3.1.')) {
    throw new ContractError([`openapi: ${openapi} is not supported: write it as 3.1.1`]);
  }
  if (!DIALECTS.includes(jsonSchemaDialect)) {
    throw new ContractError([
      `jsonSchemaDialect: ${jsonSchemaDialect} is not supported: remove it, for JSON Schema 2020-12`,
    ]);
  }
  const whole = withItems(document);
  const { valid, errors } = await validate.call(VALIDATOR, whole);
  if (valid) return undefined;
  const reference = DANGLING.exec(String(errors))?.[1] ?? (Array.isArray(errors) ? undefined : malformedOf(document));
  if (reference !== undefined) return `$ref ${reference} is not in this document`;
  const problems = describe(errors);
  // The validator has stopped at a place that no operation uses, perhaps before the paths.
  if (problems.length === 0) problems.push(...describe(findErrors(whole.paths)));
  if (problems.length > 0) throw new ContractError(problems);
  return undefined;
}

/** Replaces references to path items by the items. */
function withItems(document: Record<string, unknown>): Record<string, unknown> {
  return isMap(document.paths)
    ? { ...mapPaths(document as Document, (item) => resolvedItem(item, document)) }
    : document;
}

/** The first reference that is not percent-encoded UTF-8: the validator does not name it. */
const malformedOf = (document: object): string | undefined =>
  [...JSON.stringify(document).matchAll(/"\$ref":"(.*?)"/g)]
    .map(([, $ref]) => $ref as string)
    .find(($ref) => toPointer(`#/${$ref}`) === undefined);

/** Parts that no operation uses: only the lint reports their faults. Faults in components are reported at the places that use them. */
const UNUSED = /^\/(info|servers|tags|externalDocs|webhooks|components|security|x-[^/]*)\//;

/** Exceptions: faults in parts that are read from every contract. */
const READ_PARTS = /^\/(info(\/title)?|servers|components(\/\w+)?|security) (must be|needs title)/;

function describe(errors: unknown): string[] {
  if (!Array.isArray(errors)) return [String(errors)];
  const faults = toFaults(errors).filter(
    ({ pointer, words }) => !UNUSED.test(`${pointer}/`) || READ_PARTS.test(`${pointer} ${words}`),
  );
  return faults.map(({ pointer, words }) => `${pointer || '/'} ${words}`);
}

function findErrors(paths: unknown): Errors {
  const check = (VALIDATOR as unknown as Compiled).getAjvValidator('3.1');
  return check({ openapi: '3.1.1', info: { title: '', version: '' }, paths }) ? [] : check.errors;
}

/** The first fault of an operation without references, with its pointer inside the operation. Ignores the inside of schemas. */
function findFault(operation: object): Fault | undefined {
  const [fault] = toFaults(findErrors({ '/': { get: operation } }));
  return fault && { ...fault, pointer: fault.pointer.slice('/paths/~1/get'.length) };
}

/** A part of an operation, an operation with only this part, and the pointer to the part in it. */
type Part = [name: string, place: string, operation: Record<string, unknown>];

/** Reports the faults of an operation. Returns true if there are none. A component is checked wherever it is used. */
export function isValidOperation(item: PathItem, operation: OperationNode, report: ReportProblem): boolean {
  const problems = partsOf(item, operation).flatMap(findPartProblems);
  // The schemas can be read only if all parts are of the right kind.
  if (problems.length === 0)
    for (const [name, schema] of schemasOf(item, operation))
      if (schema !== undefined) reportKeywordTypes(schema, name, (problem) => problems.push(problem));
  problems.forEach(report);
  return problems.length === 0;
}

function findPartProblems([name, at, alone]: Part): string[] {
  const { pointer, words } = findFault(alone) ?? {};
  if (pointer === undefined) return [];
  const within = pointer.slice(at.length).replace(/^\/headers\/([^/]+)/, ' header $1:');
  return [`${name}:${within.replace(/^\/|(?<=:)\//, ' ')} ${words}`];
}

/** Splits an operation into its parts, to check each alone: the validator stops at the first fault. */
function partsOf(item: PathItem, { parameters = [], requestBody, responses = {} }: OperationNode): Part[] {
  return [
    ...[...(item.parameters ?? []), ...parameters].map(
      (one): Part => [isNamed(one) ? `parameter ${one.name}` : 'a parameter', '/parameters/0', { parameters: [one] }],
    ),
    ...(requestBody === undefined ? [] : [['its body', '/requestBody', { requestBody }] as Part]),
    ...Object.entries(responses).map(
      ([status, one]): Part => [`response ${status}`, `/responses/${status}`, { responses: { [status]: one } }],
    ),
  ];
}

const isNamed = (one: unknown): one is ParameterNode => isNode(one) && typeof one.name === 'string';

type Named = [name: string, schema: Schema | undefined];

function schemasOf(item: PathItem, { parameters = [], requestBody, responses = {} }: OperationNode): Named[] {
  const all = [...(item.parameters ?? []), ...parameters];
  return [
    ...all.flatMap(({ name, schema, content }) => [
      [`parameter ${name}`, schema] as Named,
      ...ofContents(`parameter ${name}`, content),
    ]),
    ...ofContents('request.body', requestBody?.content),
    ...Object.entries(responses).flatMap(([status, { content, headers = {} }]) => [
      ...ofContents(`response ${status}: body`, content),
      ...Object.entries(headers).map(([name, { schema }]): Named => [`response ${status}: header ${name}`, schema]),
    ]),
  ];
}

const ofContents = (name: string, content: Record<string, MediaNode> = {}) =>
  Object.values(content).map(({ schema }): Named => [name, schema]);
