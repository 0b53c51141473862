/**
 * Writes the code of handlers for records with other ids in their path, such as `{slug}` in
 * `/articles/{slug}/comments/{id}`. Such a record belongs to these ids.
 */
import { namesIn } from '../../engine/contract/path-names.ts';
import { type CheckedCode, code, joined, member, toPropertyName } from '../generate/source-text.ts';
import { type CollectionPlan, type ParentPlan, type PlannedColumn, typeOf } from './collection-plan.ts';
import { type Given, givenOf } from './envelopes.ts';
import { collectionOf, failure, type HandlerCode, NotWritten, notFound, toId, type Writing } from './handler-code.ts';
import { idsIn, toShape } from './resource-paths.ts';

/**
 * An id in the path of a record that is not the record's own, but that of the parent record, or of something that is
 * not stored.
 */
export interface OwnerId {
  column: PlannedColumn;
  value: CheckedCode;
}

/**
 * Writes code for the ids in the path that are not the record's own. Returns an empty list if the path does not contain
 * such ids.
 */
export function ownerIdsOf(writing: Writing, made: HandlerCode): OwnerId[] {
  const { parentPlan, scopes, base } = writing.plan;
  const names = idsIn(writing.operation, writing.plan).owners;
  if (names.length === 0) return [];
  if (toOwnerPath(writing.operation.path, names) !== toOwnerPath(base, namesIn(base)))
    throw new NotWritten('its path has other ids than elsewhere');
  const toParent = ({ column, plan }: ParentPlan, name: string): OwnerId => ({
    column,
    value: toId(writing, made, plan, name, 'parentId'),
  });
  return [
    ...(parentPlan ? [toParent(parentPlan, names.at(-1) as string)] : []),
    ...scopes.map(({ column }, index) => toOwnerId(writing, made, column, names[index] as string)),
  ];
}

/** Returns the shape of the path up to the last of these ids. */
const toOwnerPath = (path: string, names: string[]): string =>
  names.length === 0 ? '' : toShape(path.slice(0, path.indexOf(`{${names.at(-1)}}`) + 1));

function toOwnerId({ operation }: Writing, made: HandlerCode, column: PlannedColumn, name: string): OwnerId {
  const parameter = operation.parameters.find((one) => one.in === 'path' && one.name === name);
  if (!parameter || typeOf(parameter.schema).type !== column.type)
    throw new NotWritten(`{${name}} in its path has another type than elsewhere`);
  made.takes.add('params');
  return { column, value: member('params', name) };
}

const toParts = (owners: OwnerId[]) =>
  owners.map(({ column, value }) => code`${toPropertyName(column.name)}: ${value}`);

const isOther = (variable: CheckedCode, owners: OwnerId[]): CheckedCode[] =>
  owners.map(({ column, value }) => code`${member(variable, column.name)} !== ${value}`);

/**
 * Writes a condition that is true if the record does not exist, or if the ids in its path differ from those in the
 * request's path.
 */
export const isMissing = (variable: CheckedCode, owners: OwnerId[]): CheckedCode =>
  owners.length > 0
    ? joined([code`!${variable}`, ...isOther(variable, owners)], ' || ')
    : code`${variable} === undefined`;

/**
 * Writes the condition of a change: the stored record must match the ids of the request's path, and must fit `match`.
 */
export function toCondition(owners: OwnerId[], match?: CheckedCode): CheckedCode {
  const parts = [...toParts(owners), ...(match ? [code`...${match}`] : [])];
  if (match && owners.length === 0) return code`, { if: ${match} }`;
  return parts.length > 0 ? code`, { if: { ${joined(parts, ', ')} } }` : code``;
}

/**
 * Writes code that answers 404 if the record does not exist, or if the ids in its path differ from those in the
 * request's path.
 */
export function checkExists(
  writing: Writing,
  made: HandlerCode,
  id: CheckedCode,
  variable: CheckedCode,
  owners: OwnerId[],
): void {
  made.lines.push(code`const ${variable} = await ${collectionOf(writing, made)}.read(${id});`);
  made.lines.push(code`if (${isMissing(variable, owners)}) ${notFound(writing, made)};`);
}

/** Writes the fields of a new record that contain the ids in its path. */
export const toOwnerFields = toParts;

/** Writes code that answers 400 if the body contains another id than the path. */
export function checkOwnersInBody(writing: Writing, made: HandlerCode, body: CheckedCode, owners: OwnerId[]): void {
  const { plan, operation, source } = writing;
  const { fields } = givenOf(operation, plan, source) as Given;
  for (const { column, value } of owners.filter((one) => one.column.name in fields)) {
    const given = member(body, column.name);
    const message = `The ${column.name} in the body is another one than in the path.`;
    const different = failure(writing, made, 'bad_request', 400, message);
    made.lines.push(code`if (${given} !== undefined && ${given} !== ${value}) ${different};`);
  }
}

/**
 * Writes code that answers 404 if the parent does not exist, or if the ids in its path differ from those in the
 * request's path.
 */
export function checkParent(writing: Writing, made: HandlerCode, [owner]: OwnerId[]): void {
  const { parentPlan } = writing.plan;
  if (!parentPlan || !owner) return;
  const { plan } = parentPlan;
  const around = aroundParent(writing, made, plan);
  const read = code`await ${collectionOf(writing, made, plan)}.${around.length > 0 ? code`read` : code`get`}(${owner.value})`;
  if (around.length === 0) made.lines.push(code`if (!(${read})) ${notFound(writing, made, plan)};`);
  else {
    made.lines.push(code`const parent = ${read};`);
    made.lines.push(code`if (${isMissing(code`parent`, around)}) ${notFound(writing, made, plan)};`);
  }
}

/** True if the path of the parent record also has further ids, such as the id of a grandparent. */
export const isDeep = ({ plan: { parentPlan } }: Writing): boolean =>
  parentPlan !== undefined && namesIn(parentPlan.plan.path).length > 1;

/** Writes code for the ids in the path before the parent's own id. */
function aroundParent(writing: Writing, made: HandlerCode, { path, parentPlan, scopes }: CollectionPlan): OwnerId[] {
  const columns = [...scopes, ...(parentPlan ? [parentPlan] : [])].map(({ column }) => column);
  const names = idsIn(writing.operation, writing.plan).owners;
  const around = namesIn(path).length > 1 ? columns : [];
  return around.map((column, index) => toOwnerId(writing, made, column, names[index] as string));
}
