/**
 * Writes `src/errors.ts` if the contract's errors differ in form from the server's own errors. Checks the bodies that
 * the file makes against every error reply.
 */
import { findUnfitBody } from '../../contract/checks/server-errors.ts';
import type { Operation, ReadContract, Reply } from '../../engine/contract/contract.ts';
import { replyFor } from '../../engine/contract/replies.ts';
import type { ErrorCode } from '../../engine/errors/catalogue.ts';
import { type OwnError, type ToErrorBody, toErrorBody as toUsualBody } from '../../engine/errors/error-body.ts';
import { buildCompileReply, type CompileReply } from '../../engine/replies/reply-writers.ts';
import { type BuildCheck, buildChecks } from '../../engine/schema/checks.ts';
import { keywordsOf } from '../../engine/schema/json.ts';
import { type CheckedCode, checkedName, code, indented, joined } from '../generate/source-text.ts';
import { findForm } from './error-forms.ts';
import { CATALOGUE, CODES, type ErrorValue, statusOf, toErrorValue } from './error-values.ts';

interface ErrorsFile {
  /** The code of the file. Undefined if the server's own form fits every reply. */
  code: CheckedCode | undefined;
  /** A function that makes the same bodies as the code. */
  toErrorBody: ToErrorBody;
  /** A line for each assumed value, and for each reply without a body that fits. */
  notes: string[];
}

interface ErrorReply {
  operation: Operation;
  reply: Reply;
  codes: ErrorCode[];
}

interface Form {
  value: ErrorValue;
  replies: ErrorReply[];
}

const USUAL = toErrorValue(
  code`problems ? { code, message, status, problems } : { code, message, status }`,
  ['code', 'message', 'status', 'problems'],
  toUsualBody,
);

export function writeErrors({ operations }: ReadContract): ErrorsFile {
  const buildCheck = buildChecks({ isJudged: true });
  const compileReply = buildCompileReply(buildCheck);
  const replies = [...operations.values()].flatMap(errorRepliesOf);
  const forms = new Map<string, Form>();
  const notes: string[] = [];
  for (const alike of groupBy(replies, ({ reply }) => toKey(reply.schema)).values()) {
    for (const { value, replies: fitting } of formsOf(alike, buildCheck, compileReply, notes)) {
      const form = forms.get(value.code.text) ?? { value, replies: [] };
      form.replies.push(...fitting);
      forms.set(value.code.text, form);
    }
  }
  const [usual, ...others] = joinOpen([...forms.values()]);
  const isOwn = others.length > 0 || usual.value !== USUAL;
  const values = [usual, ...others].map(({ value }) => value);
  const assumed = [...new Set(values.flatMap((value) => value.assumed))];
  notes.push(...assumed.map((one) => `src/errors.ts: nothing says what a field means: ${one}`));
  return {
    code: isOwn ? toFile(usual.value, others, replies) : undefined,
    toErrorBody: toFunction(usual.value, others) as ToErrorBody,
    notes,
  };
}

/**
 * Sorts the forms by the number of their replies, the most frequent first. If the schema of a reply does not name
 * fields, any form fits it, so it gets the first form.
 */
function joinOpen(forms: Form[]): [Form, ...Form[]] {
  const open = forms.find(({ value }) => value === USUAL);
  const isOpen = ({ reply }: ErrorReply) => Object.keys(keywordsOf(reply.schema)).length === 0;
  const closed = { value: USUAL, replies: open?.replies.filter((one) => !isOpen(one)) ?? [] };
  const others = [...forms.filter((form) => form !== open), closed].filter(({ replies }) => replies.length > 0);
  const [first = closed, ...rest] = others.sort((a, b) => b.replies.length - a.replies.length);
  return [{ ...first, replies: [...first.replies, ...(open?.replies.filter(isOpen) ?? [])] }, ...rest];
}

/**
 * Returns a text that is equal for equal schemas, apart from their descriptions. Replies with equal schemas get the
 * same form.
 */
const toKey = (schema: unknown): string =>
  JSON.stringify(schema, (key, value) => {
    if (typeof value === 'bigint') return `${value}`;
    return typeof value === 'string' && key === 'description' ? undefined : value;
  });

function groupBy<Item>(items: Item[], toName: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(toName(item), [...(groups.get(toName(item)) ?? []), item]);
  return groups;
}

/** Returns the JSON replies that the server or a handler may use for errors. */
function errorRepliesOf(operation: Operation): ErrorReply[] {
  return operation.replies.flatMap((reply) => {
    const codes = CODES.filter((one) => replyFor(operation.replies, statusOf(one)) === reply);
    return codes.length > 0 && reply.isJson ? [{ operation, reply, codes }] : [];
  });
}

/** The options for repeated calls of `findForm`, the strictest first. */
const ATTEMPTS = [false, true].flatMap((keepsAssumed) =>
  [false, true].map((saysAnywhere) => ({ saysAnywhere, keepsAssumed })),
);

/** Finds one form that fits all these replies of the same schema, or else a form for each status. */
function formsOf(replies: ErrorReply[], buildCheck: BuildCheck, compileReply: CompileReply, notes: string[]): Form[] {
  const [first] = replies as [ErrorReply];
  const compiled = compileReply(first.reply, () => {});
  const fits = (value: ErrorValue, codes: ErrorCode[]) =>
    codes.every(
      (one) => !findUnfitBody(compiled, (parts, requestId) => value.toValue(toOwn(parts, requestId)), one, CATALOGUE),
    );
  const find = (codes: ErrorCode[]): ErrorValue | undefined =>
    ATTEMPTS.map((attempt) => findForm(first.reply.schema, { buildCheck, codes, ...attempt })).find(
      (value) => value && fits(value, codes),
    );
  const all = [...new Set(replies.flatMap(({ codes }) => codes))];
  if (fits(USUAL, all)) return [{ value: USUAL, replies }];
  const value = find(all);
  if (value) return [{ value, replies }];
  return [...groupBy(replies, ({ reply }) => reply.status).values()].flatMap((alike) => {
    const codes = (alike[0] as ErrorReply).codes;
    const own = find(codes);
    if (own) return [{ value: own, replies: alike }];
    const { operation, reply } = alike[0] as ErrorReply;
    notes.push(`operation ${operation.id}: response ${reply.status}: no body was found: write it in src/errors.ts`);
    return [];
  });
}

type Parts = Pick<OwnError, 'code' | 'message' | 'status'> & Partial<OwnError>;
const toOwn = (parts: Parts, requestId: string): OwnError => ({
  ...{ code: parts.code, message: parts.message, status: parts.status, problems: parts.problems },
  ...{ requestId, operation: undefined, reply: undefined },
});

/**
 * The condition for the use of a form in `src/errors.ts`. The condition compares only the status if all replies with
 * this status share a form. Otherwise the condition compares the operation as well.
 */
interface Condition {
  statuses: string[];
  /** The operations with their statuses, such as `getThing 404`. */
  places: string[];
}

function conditionOf({ replies }: Form, all: ErrorReply[]): Condition {
  const own = new Set(replies);
  const isWhole = (status: string) => all.every((one) => one.reply.status !== status || own.has(one));
  const statuses = [...new Set(replies.map(({ reply }) => reply.status))].filter(isWhole).sort();
  const others = replies.filter(({ reply }) => !statuses.includes(reply.status));
  return { statuses, places: others.map(({ operation, reply }) => `${operation.id} ${reply.status}`) };
}

function toFunction(usual: ErrorValue, others: Form[]): ToErrorBody {
  const byPlace = new Map(
    others.flatMap(({ value, replies }) =>
      replies.map(({ operation, reply }) => [`${operation.id} ${reply.status}`, value] as const),
    ),
  );
  return (error) => (byPlace.get(`${error.operation} ${error.reply}`) ?? usual).toValue(error) as never;
}

function toFile(usual: ErrorValue, others: Form[], replies: ErrorReply[]): CheckedCode {
  const values = [usual, ...others.map(({ value }) => value)];
  const constants = [...new Map(values.flatMap((value) => [...value.constants]))];
  const branches = others.map((form, index) => toBranch(form, conditionOf(form, replies), index));
  const uses = [...values.flatMap((value) => value.uses), ...branches.flatMap((branch) => branch.uses)];
  const order = ['code', 'message', 'status', 'problems', 'requestId', 'operation', 'reply'];
  const names = order.filter((name) => uses.includes(name)).map(checkedName);
  const argument = names.length > 0 ? code`{ ${joined(names, ', ')} }: OwnError` : code``;
  const imported = names.length > 0 ? code`OwnError, OwnErrorBody` : code`OwnErrorBody`;
  const phrases = values.some(({ hasPhrases }) => hasPhrases)
    ? code`import { STATUS_CODES } from 'node:http';\n`
    : code``;
  return code`/** The bodies of all errors, in the form of the contract. */
${phrases}import type { ${imported} } from 'contract-first';
${constants.map(([name, value]) => code`\nconst ${checkedName(name)} = ${value};\n`)}${branches.map(({ constant }) => constant)}
export function toErrorBody(${argument}): OwnErrorBody {
${branches.map(({ line }) => line)}  return ${indented(usual.code)};
}
`;
}

function toBranch({ value }: Form, { statuses, places }: Condition, index: number) {
  const name = checkedName(`REPLIES_${index + 2}`);
  const listed = places.map((place) => code`  ${place},\n`);
  const constant =
    places.length > 0
      ? code`\n/** Operations and replies with a body of their own. */\nconst ${name} = new Set([\n${joined(listed, '')}]);\n`
      : code``;
  const conditions = [
    ...statuses.map((status) => code`reply === ${status}`),
    ...(places.length > 0 ? [code`${name}.has(\`\${operation} \${reply}\`)`] : []),
  ];
  const line = code`  if (${joined(conditions, ' || ')}) return ${indented(value.code)};\n`;
  return { constant, line, uses: ['reply', ...(places.length > 0 ? ['operation'] : [])] };
}
