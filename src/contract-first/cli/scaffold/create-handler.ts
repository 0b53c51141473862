/** Writes the handler that creates a record. */
import type { Reply } from '../../engine/contract/contract.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import { withArticle } from '../../store/tables/table.ts';
import { type CheckedCode, code, joined, member, toObjectLiteral, toPropertyName } from '../generate/source-text.ts';
import type { CollectionPlan } from './collection-plan.ts';
import { toHeaders, toTagHeader } from './entity-tags.ts';
import { successOf } from './envelopes.ts';
import {
  checkBody,
  collectionOf,
  failure,
  type HandlerCode,
  kindOf,
  NotWritten,
  notFound,
  variableOf,
  type Writing,
  withFields,
} from './handler-code.ts';
import { checkOwnersInBody, checkParent, isDeep, ownerIdsOf, toOwnerFields } from './parents.ts';
import { toReplyBody } from './reply-bodies.ts';

export function writeCreateHandler(writing: Writing, made: HandlerCode): void {
  const { plan, operation } = writing;
  checkFields(plan);
  const body = checkBody(writing, made);
  const owners = ownerIdsOf(writing, made);
  checkOwnersInBody(writing, made, body, owners);
  if (isDeep(writing)) checkParent(writing, made, owners);
  const created = withFields(body, [...toMadeId(plan, body, made), ...toOwnerFields(owners)]);
  const [variable, collection] = [variableOf(writing), collectionOf(writing, made)];
  const options = operation.parameters.some(({ keptHours }) => keptHours !== undefined)
    ? code`, { idempotency }`
    : code``;
  if (options.text) made.takes.add('idempotency');
  made.lines.push(code`const ${variable} = await ${collection}.create(${created}${options});`);
  if (plan.parentPlan) {
    const parent = plan.parentPlan.plan;
    made.imports.add('isRefused');
    const why = plan.id.is ? code` && ${variable}.refused === ${`no_such_${parent.name}`}` : code``;
    made.lines.push(code`if (isRefused(${variable})${why}) ${notFound(writing, made, parent)};`);
  }
  if (plan.id.is) {
    made.imports.add('isRefused');
    const exists = failure(writing, made, 'conflict', 409, `There is ${withArticle(plan.noun)} with this id.`);
    made.lines.push(code`if (isRefused(${variable})) ${exists};`);
  }
  const answer = toReplyBody(writing, variable);
  const headers = [...toLocation(writing, made, variable), ...toTagHeader(writing, made, variable)];
  made.lines.push(code`return ${toObjectLiteral([...answer, ...toHeaders(headers)])};`);
}

/**
 * Checks that there is a source for every required field of a new record.
 * @throws NotWritten if a source is missing
 */
export function checkFields({ record, missing: [first] }: CollectionPlan): void {
  if (first !== undefined) throw new NotWritten(`${record}.${first} is required, and comes from nowhere`);
}

/** Writes code for the id of a new record, if the client may omit the id. */
function toMadeId({ id, madeId, given }: CollectionPlan, body: CheckedCode, made: HandlerCode): CheckedCode[] {
  if (madeId === undefined) return [];
  for (const name of madeId.imports) made.crypto.add(name);
  const value = madeId.toCode(body);
  const own = given.includes(id.name) ? code`${member(body, id.name)} ?? ${value}` : value;
  return [code`${toPropertyName(id.name)}: ${own}`];
}

/** Writes the header `Location`, if the contract declares it and a GET returns the record by its id. */
function toLocation({ plan, operation }: Writing, made: HandlerCode, variable: CheckedCode): [string, CheckedCode][] {
  const { headers } = successOf(operation) as Reply;
  const name = Object.keys(headers).find((one) => /^location$/i.test(one));
  if (name === undefined) return [];
  const get = plan.operations.get('get');
  const parameter = get?.parameters.find((one) => one.in === 'path' && one.name === plan.parameter);
  const wanted = { int64: 'bigint', int32: 'number', number: 'number' }[plan.id.type as string] ?? 'string';
  const given = parameter && kindOf(parameter.schema);
  if (!get || !(given === wanted || (given === 'string' && wanted === 'bigint'))) {
    if (headers[name]?.required) throw new NotWritten('its header Location leads nowhere');
    return [];
  }
  made.takes.add('urlOf');
  const ownId = member(variable.text, plan.id.name);
  const id = given === wanted ? ownId : code`String(${ownId})`;
  const parameters = namesIn(get.path).map(
    (one) => code`${toPropertyName(one)}: ${one === plan.parameter ? id : member('params', one)}`,
  );
  return [[name, code`urlOf(${get.id}, { ${joined(parameters, ', ')} })`]];
}
