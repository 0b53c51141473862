/** The code of a handler, and functions that write the code that several handlers need. */
import type { DocumentSource } from '../../contract/page/source.ts';
import { ContractError, type Operation, type Parameter, type Reply } from '../../engine/contract/contract.ts';
import { replyFor } from '../../engine/contract/replies.ts';
import { keywordsOf, type Schema } from '../../engine/schema/json.ts';
import {
  type CheckedCode,
  checkedName,
  code,
  indented,
  joined,
  member,
  toLiteral,
  toPropertyName,
} from '../generate/source-text.ts';
import type { FindAssumed } from './assumed-values.ts';
import type { CollectionPlan } from './collection-plan.ts';
import { isCondition } from './condition-headers.ts';
import { type Given, givenOf, plain, successOf, wordsOf } from './envelopes.ts';
import { idsIn } from './resource-paths.ts';
import { isTenant, mayBeEmpty, tenantHeaderOf } from './tenant-headers.ts';

/** The error if a handler cannot be written. The text of the error is the reason. */
export class NotWritten extends ContractError {
  constructor(reason: string) {
    super([reason]);
  }
}

export interface Writing {
  plan: CollectionPlan;
  operation: Operation;
  source: DocumentSource;
  /**
   * Returns an assumed value for a required field without a source. Returns undefined if no value is found, or without
   * `--assume`.
   */
  findAssumed: FindAssumed;
}

/**
 * A handler while it is written: the properties that it takes from its argument, its imports, and its lines of code.
 */
export class HandlerCode {
  readonly takes = new Set<string>();
  readonly imports = new Set(['handle']);
  readonly crypto = new Set<string>();
  readonly lines: CheckedCode[] = [];

  toCode({ id }: Operation): CheckedCode {
    const names = (list: Iterable<string>) => joined([...list].sort().map(checkedName), ', ');
    const crypto = this.crypto.size > 0 ? code`import { ${names(this.crypto)} } from 'node:crypto';\n` : code``;
    return code`${crypto}import { ${names(this.imports)} } from 'contract-first';

export default handle(${id}, async ({ ${joined([...this.takes].map(checkedName), ', ')} }) => {
${this.lines.map((line) => code`  ${indented(line)}\n`)}});
`;
  }
}

/**
 * Matches words in the names of headers and query parameters that are about the call or its caller. Records do not
 * depend on such a parameter.
 */
const ABOUT_CALL: Record<string, RegExp> = {
  header:
    /^(key|apikey|token|auth\w*|app|application|client|consumer|version|request\w*|correlation\w*|trace\w*|idempotency|signature|timestamp|agent|language|device|session|ip|origin|host|api)$/,
  query: /^(apikey|auth|authorization|accesstoken|apiversion|appkey)$/,
};

/** True if a parameter is about the call or its caller, and not about records. */
const isAboutCall = ({ name, in: location }: Parameter): boolean =>
  location === 'header'
    ? wordsOf(name).some((word) => ABOUT_CALL.header?.test(word))
    : ABOUT_CALL.query?.test(plain(name)) === true || wordsOf(name).includes('auth');

/**
 * Writes code that answers 501 to requests with a parameter of unknown meaning.
 * @throws NotWritten if such a parameter is required
 */
export function reportParameters(writing: Writing, made: HandlerCode, known: string[]): void {
  const { plan, operation } = writing;
  const isKnown = (name: string) => known.includes(name) || name === plan.tenant?.name;
  const others = operation.parameters.filter(
    ({ name, in: location, keptHours }) => location !== 'path' && !isKnown(name) && keptHours === undefined,
  );
  const unknown = others.filter((one) => !hasNoEffect(writing, one));
  const needed = unknown.find(({ required }) => required);
  if (needed) throw new NotWritten(`its parameter ${needed.name} is not understood`);
  for (const { name, in: location, schema } of unknown) {
    const object = location === 'query' ? 'query' : 'headers';
    const preset = keywordsOf(schema).default;
    if (typeof preset === 'object') throw new NotWritten(`the default of its parameter ${name} is not understood`);
    made.takes.add(object);
    made.imports.add('HttpError');
    plan.unknown.push({ id: operation.id, when: `the parameter ${name} is sent` });
    const sent = code`${member(object, name)} !== ${preset === undefined ? code`undefined` : toLiteral(preset)}`;
    made.lines.push(
      code`if (${sent}) throw new HttpError('not_implemented', ${`The parameter ${name} is not implemented yet.`});`,
    );
  }
}

/**
 * True if the handler may ignore a parameter, because it is about the call. With `--assume`, also true for a required
 * parameter of unknown meaning.
 */
function hasNoEffect({ plan, findAssumed }: Writing, parameter: Parameter): boolean {
  const { name, required, schema } = parameter;
  const isSafe = !isCondition(parameter) && !isTenant(parameter);
  const isAssumed = required && isSafe && findAssumed(schema) !== undefined;
  if (!isAboutCall(parameter) && !isAssumed) return false;
  const line = `${plan.name}: the parameter ${name} has no effect`;
  if (!plan.assumed.includes(line)) plan.assumed.push(line);
  return true;
}

/**
 * Writes code for an error reply. The handler returns the error if the operation declares its status, and throws it
 * otherwise.
 */
export function failure(
  { operation }: Writing,
  made: HandlerCode,
  error: string,
  status: number,
  message: string,
): CheckedCode {
  const isDeclared = replyFor(operation.replies, status) !== undefined;
  made.imports.add(isDeclared ? 'refuse' : 'HttpError');
  return isDeclared ? code`return refuse(${error}, ${message})` : code`throw new HttpError(${error}, ${message})`;
}

/**
 * Writes code for the collection of the records. If they belong to tenants, it contains only the records of the tenant
 * in the header.
 */
export function collectionOf({ plan }: Writing, made: HandlerCode, { name, tenant } = plan): CheckedCode {
  made.takes.add(name);
  if (!tenant) return checkedName(name);
  made.takes.add('headers');
  return code`${checkedName(name)}.of(${member('headers', tenant.name)})`;
}

/**
 * Writes code that rejects an empty header with the tenant.
 * @throws NotWritten if the operation does not require the header
 */
export function checkTenant(writing: Writing, made: HandlerCode): void {
  const { plan, operation } = writing;
  if (!plan.tenant) return;
  const { name } = plan.tenant;
  const own = tenantHeaderOf(operation);
  if (own?.name !== name)
    throw new NotWritten(`its records belong to the tenant in ${name}, which it does not demand as a text`);
  if (!mayBeEmpty(own)) return;
  const empty = failure(writing, made, 'bad_request', 400, `The header ${name} is empty.`);
  made.lines.push(code`if (${member('headers', name)} === '') ${empty};`);
}

/** Returns the TypeScript type that a value of the schema has in a handler. */
export function kindOf(schema: Schema): 'bigint' | 'number' | 'string' | undefined {
  const { type, format } = keywordsOf(schema);
  if (type === 'integer' && format === 'int64') return 'bigint';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'string' ? 'string' : undefined;
}

export function notFound(writing: Writing, made: HandlerCode, plan = writing.plan): CheckedCode {
  const end = plan.isSingle ? 'yet' : 'with this id';
  return failure(writing, made, 'not_found', 404, `There is no ${plan.noun} ${end}.`);
}

/**
 * Writes code for the id of the record in the path, converted to the type of its column. If the column is an integer
 * and the text in the path is not, the handler answers 404.
 */
export function idOf(writing: Writing, made: HandlerCode): CheckedCode {
  const { own } = idsIn(writing.operation, writing.plan);
  return own === undefined ? code`${ONLY}` : toId(writing, made, writing.plan, own, 'id');
}

/** The id of a single object if its path contains no id. */
const ONLY = 'only';

/**
 * Writes code for the id of a record of any collection in the path. `name` is the path parameter, and `variable` the
 * name for a converted id.
 */
export function toId(
  writing: Writing,
  made: HandlerCode,
  plan: CollectionPlan,
  name: string,
  variable: string,
): CheckedCode {
  const parameter = writing.operation.parameters.find((one) => one.in === 'path' && one.name === name) as Parameter;
  const wanted = { int64: 'bigint', int32: 'number', number: 'number' }[plan.id.type as string] ?? 'string';
  const given = kindOf(parameter.schema);
  const value = member('params', name);
  made.takes.add('params');
  if (given === wanted) return value;
  if (given === 'number' && wanted === 'bigint') return code`BigInt(${value})`;
  if (given === 'string' && wanted === 'bigint') {
    made.imports.add('parseInt64');
    const id = checkedName(variable);
    made.lines.push(code`const ${id} = parseInt64(${value});`);
    made.lines.push(code`if (${id} === undefined) ${notFound(writing, made, plan)};`);
    return id;
  }
  if (wanted === 'string' && given !== undefined) return code`String(${value})`;
  if (given === 'string' && wanted === 'number') {
    const id = checkedName(variable);
    made.lines.push(code`const ${id} = Number(${value});`);
    made.lines.push(code`if (!Number.isSafeInteger(${id})) ${notFound(writing, made, plan)};`);
    return id;
  }
  throw new NotWritten(`the id in its path has another type than ${plan.record}.${plan.id.name}`);
}

/**
 * Writes code for the record in the body. If the body is optional or may be of several types, the handler checks it
 * first.
 */
export function checkBody({ plan, operation, source }: Writing, made: HandlerCode): CheckedCode {
  if (!operation.body) throw new NotWritten('it has no body');
  const { required, contents } = operation.body;
  const json = contents.find(({ kind }) => kind === 'json');
  if (!json) throw new NotWritten('its body is not JSON');
  made.takes.add('body');
  if (contents.length > 1) {
    made.takes.add('contentType');
    made.imports.add('HttpError');
    made.lines.push(
      code`if (contentType !== ${json.type}) throw new HttpError('unsupported_media_type', ${`Send ${json.type}.`});`,
    );
  }
  const { path, fields } = givenOf(operation, plan, source) as Given;
  const record = path.reduce((object, name) => member(object, name), code`body`);
  if (!required) {
    made.imports.add('HttpError');
    made.lines.push(code`if (body === undefined) throw new HttpError('invalid_request', 'The body is missing.');`);
  }
  const left = plan.unstored.filter((name) => name in fields);
  if (left.length === 0) return record;
  const parts = left.map((name, index) => code`${toPropertyName(name)}: ${checkedName('_'.repeat(index + 1))}`);
  made.lines.push(code`const { ${joined(parts, ', ')}, ...stored } = ${record};`);
  return code`stored`;
}

/** Writes an object with the fields of the body and these further fields. */
export const withFields = (body: CheckedCode, fields: CheckedCode[]): CheckedCode =>
  fields.length > 0 ? code`{ ...${body}, ${joined(fields, ', ')} }` : body;

/** Returns the name of the variable for a record. */
export const variableOf = ({ plan }: Writing): CheckedCode => {
  const [first = 'record', ...others] = plan.noun.split(' ');
  const name = first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return checkedName(
    /^[a-z]\w*$/i.test(name) && name !== plan.name && !/^(new|class|case|default|package|body)$/.test(name)
      ? name
      : 'record',
  );
};

/**
 * Writes a reply with the result of `call`. If the record does not exist, the reply is a 404. Returns undefined if the
 * operation does not declare 404, because the handler must then throw the error.
 */
export function toAnswer({ operation }: Writing, made: HandlerCode, call: CheckedCode): CheckedCode | undefined {
  if (replyFor(operation.replies, 404) === undefined) return undefined;
  made.imports.add('answer');
  const { status } = successOf(operation) as Reply;
  return code`return answer(${Number(status)}, await ${call}, { absent: 'not_found' });`;
}
