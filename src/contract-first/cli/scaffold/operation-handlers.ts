/** Writes the handler of an operation of a stored resource, or gives the reason if it cannot. */
import type { Parameter, Reply } from '../../engine/contract/contract.ts';
import { headersOfHandler } from '../../engine/replies/reply-headers.ts';
import {
  type CheckedCode,
  checkedName,
  code,
  toLiteral,
  toObjectLiteral,
  toPropertyName,
} from '../generate/source-text.ts';
import { bodyOf, type CollectionPlan, isJsonColumn } from './collection-plan.ts';
import { failure, HandlerCode, kindOf, member, NotWritten, reportParameters, type Writing } from './handler-code.ts';
import { type ListUse, writeListCall } from './list-handlers.ts';
import { envelopeOf, type OperationKind, successOf } from './resources.ts';

/** @throws NotWritten with the reason */
export function writeHandler(kind: OperationKind, writing: Writing): { code: CheckedCode; list?: ListUse } {
  const made = new HandlerCode();
  made.takes.add(writing.plan.name);
  if (kind === 'list') {
    const list = writeListCall(writing, made);
    return { code: made.toCode(writing.operation), list };
  }
  const write = { create: writeCreate, get: writeGet, update: writeChange, replace: writeChange, delete: writeDelete }[
    kind
  ];
  reportParameters(writing, made, kind === 'create' ? [] : [writing.plan.parameter]);
  write(writing, made, kind);
  return { code: made.toCode(writing.operation) };
}

const notFound = (writing: Writing, made: HandlerCode): CheckedCode =>
  failure(writing, made, 'not_found', 404, `There is no ${writing.plan.noun} with this id.`);

/** The id in the path, with the type of the column. */
function idOf({ plan, operation }: Writing, made: HandlerCode): CheckedCode {
  const parameter = operation.parameters.find((one) => one.in === 'path' && one.name === plan.parameter) as Parameter;
  const wanted = { int64: 'bigint', int32: 'number', number: 'number' }[plan.id.type as string] ?? 'string';
  const given = kindOf(parameter.schema);
  const value = member('params', plan.parameter);
  made.takes.add('params');
  if (given === wanted) return value;
  if (given === 'number' && wanted === 'bigint') return code`BigInt(${value})`;
  throw new NotWritten(`the id in its path has another type than ${plan.record}.${plan.id.name}`);
}

/** The value of the reply's body: the record, or an object with it. @throws NotWritten for other bodies */
function toReplyBody({ plan, operation, source }: Writing, record: CheckedCode): [name: string, value: CheckedCode][] {
  const reply = successOf(operation);
  if (!reply) throw new NotWritten('it declares no success');
  const needed = headersOfHandler(operation, reply).find(
    ([name, { required }]) => required && !/^location$/i.test(name),
  );
  if (needed) throw new NotWritten(`the header ${needed[0]} of its reply comes from nowhere`);
  const status: [string, CheckedCode] = ['status', toLiteral(Number(reply.status))];
  if (!reply.hasContent) return [status];
  const envelope = envelopeOf(operation, source);
  if (!envelope || envelope.isList || envelope.record !== plan.record)
    throw new NotWritten(`its reply is not a ${plan.record}`);
  return [
    status,
    ['body', envelope.field === undefined ? record : code`{ ${toPropertyName(envelope.field)}: ${record} }`],
  ];
}

/** Checks a body first if it is optional or may have several types. */
function checkBody({ operation }: Writing, made: HandlerCode): void {
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
  if (required) return;
  made.imports.add('HttpError');
  made.lines.push(code`if (body === undefined) throw new HttpError('invalid_request', 'The body is missing.');`);
}

const variableOf = ({ plan }: Writing): CheckedCode => {
  const [first = 'record', ...others] = plan.noun.split(' ');
  const name = first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return checkedName(
    /^[a-z]\w*$/i.test(name) && name !== plan.name && !/^(new|class|case|default|package|body)$/.test(name)
      ? name
      : 'record',
  );
};

function writeCreate(writing: Writing, made: HandlerCode): void {
  const { plan, operation } = writing;
  if (plan.missing.length > 0)
    throw new NotWritten(`${plan.record}.${plan.missing[0]} is required, and comes from nowhere`);
  checkBody(writing, made);
  const [variable, collection] = [variableOf(writing), checkedName(plan.name)];
  const options = operation.parameters.some(({ keptHours }) => keptHours !== undefined)
    ? code`, { idempotency }`
    : code``;
  if (options.text) made.takes.add('idempotency');
  made.lines.push(code`const ${variable} = await ${collection}.create(${toCreated(plan, made)}${options});`);
  if (plan.id.is) {
    made.imports.add('isRefused');
    const exists = failure(writing, made, 'conflict', 409, `There is a ${plan.noun} with this id.`);
    made.lines.push(code`if (isRefused(${variable})) ${exists};`);
  }
  const answer = [...toReplyBody(writing, variable), ...toLocation(writing, made, variable)];
  made.lines.push(code`return ${toObjectLiteral(answer)};`);
}

/** The record to create: with an id, if the client may leave it out. */
function toCreated({ id, madeId, given }: CollectionPlan, made: HandlerCode): CheckedCode {
  if (madeId === undefined) return code`body`;
  made.crypto.add(madeId === 'uuid' ? 'randomUUID' : 'randomInt');
  const value = {
    uuid: code`randomUUID()`,
    bigint: code`BigInt(randomInt(1, 2 ** 47))`,
    integer: code`randomInt(1, 2 ** 31)`,
  }[madeId];
  const own = given.includes(id.name) ? code`${member('body', id.name)} ?? ${value}` : value;
  return code`{ ...body, ${toPropertyName(id.name)}: ${own} }`;
}

/** The header `Location`, if the contract declares it and the resource can be read by its id. */
function toLocation({ plan, operation }: Writing, made: HandlerCode, variable: CheckedCode): [string, CheckedCode][] {
  const { headers } = successOf(operation) as Reply;
  const name = Object.keys(headers).find((one) => /^location$/i.test(one));
  if (name === undefined) return [];
  const get = plan.operations.get('get');
  const parameter = get?.parameters.find((one) => one.in === 'path');
  const wanted = { int64: 'bigint', int32: 'number', number: 'number' }[plan.id.type as string] ?? 'string';
  if (!get || !parameter || kindOf(parameter.schema) !== wanted) {
    if (headers[name]?.required) throw new NotWritten('its header Location leads nowhere');
    return [];
  }
  made.takes.add('urlOf');
  const id = member(variable.text, plan.id.name);
  return [
    ['headers', code`{ ${toPropertyName(name)}: urlOf(${get.id}, { ${toPropertyName(plan.parameter)}: ${id} }) }`],
  ];
}

function writeGet(writing: Writing, made: HandlerCode): void {
  const { plan, operation, source } = writing;
  const variable = variableOf(writing);
  const read = envelopeOf(operation, source)?.field === undefined ? code`get` : code`read`;
  made.lines.push(code`const ${variable} = await ${checkedName(plan.name)}.${read}(${idOf(writing, made)});`);
  made.lines.push(code`if (${variable} === undefined) ${notFound(writing, made)};`);
  made.lines.push(code`return ${toObjectLiteral(toReplyBody(writing, variable))};`);
}

function writeDelete(writing: Writing, made: HandlerCode): void {
  const { plan, operation } = writing;
  const reply = successOf(operation);
  const collection = checkedName(plan.name);
  const id = idOf(writing, made);
  if (!reply?.hasContent) {
    made.lines.push(code`if (!(await ${collection}.delete(${id}))) ${notFound(writing, made)};`);
    made.lines.push(code`return ${toObjectLiteral(toReplyBody(writing, code``))};`);
    return;
  }
  const variable = variableOf(writing);
  const answer = toReplyBody(writing, variable);
  made.lines.push(code`const ${variable} = await ${collection}.read(${id});`);
  made.lines.push(code`if (!${variable} || !(await ${collection}.delete(${id}))) ${notFound(writing, made)};`);
  made.lines.push(code`return ${toObjectLiteral(answer)};`);
}

/** Updates, or replaces if the body has each field that a client can set. */
function writeChange(writing: Writing, made: HandlerCode, kind: OperationKind): void {
  const { plan, operation, source } = writing;
  const variable = variableOf(writing);
  checkBody(writing, made);
  const fields = Object.keys({ ...bodyOf(operation, source)?.properties });
  const isInBody = fields.includes(plan.id.name);
  const isInPath = operation.path.includes('{');
  const bodyId = member('body', plan.id.name);
  if (!isInPath) made.takes.delete('params');
  const id = isInPath ? idOf(writing, made) : bodyId;
  if (!isInPath && !isInBody) throw new NotWritten('the id of the record is neither in its path nor in its body');
  const different = failure(
    writing,
    made,
    'bad_request',
    400,
    'The id in the body is another one than the id of the record.',
  );
  if (!isInPath)
    made.lines.push(
      code`if (${bodyId} === undefined) ${failure(writing, made, 'bad_request', 400, 'The id is missing.')};`,
    );
  else if (isInBody) made.lines.push(code`if (${bodyId} !== undefined && ${bodyId} !== ${id}) ${different};`);
  const isWhole = kind === 'replace' && plan.given.every((name) => fields.includes(name) || name === plan.id.name);
  const [method, value] = isWhole ? [code`replace`, replaced(plan, id)] : [code`update`, code`body`];
  let given = value;
  if (isInBody && (plan.id.set || !isWhole)) {
    made.lines.push(code`const { ${toPropertyName(plan.id.name)}: _, ...changes } = body;`);
    given = code`changes`;
  }
  const call = code`${checkedName(plan.name)}.${method}(${id}, ${given})`;
  made.lines.push(code`const ${variable} = await ${call};`);
  made.lines.push(code`if (${variable} === undefined) ${notFound(writing, made)};`);
  if (plan.id.is || (!isWhole && plan.columns.some(isJsonColumn))) {
    made.imports.add('isRefused');
    const unfit = failure(writing, made, 'unprocessable_content', 422, `The ${plan.noun} would break the contract.`);
    made.lines.push(code`if (isRefused(${variable})) ${unfit};`);
  }
  made.lines.push(code`return ${toObjectLiteral(toReplyBody(writing, variable))};`);
}

const replaced = ({ id }: CollectionPlan, value: CheckedCode): CheckedCode =>
  id.is ? code`{ ...body, ${toPropertyName(id.name)}: ${value} }` : code`body`;
