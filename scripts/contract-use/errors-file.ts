/** Writes the first `src/errors.ts` for a contract: its error schemas, filled by the names and types of their fields. Its team goes on from there. */
import type { ReadContract, Reply } from '../../src/engine/contract/contract.ts';
import type { ToErrorBody } from '../../src/engine/error-body.ts';
import { kindOf, toCodes } from '../../src/engine/errors.ts';
import { buildChecks } from '../../src/engine/schema/checks.ts';
import type { Schema } from '../../src/engine/schema/json.ts';
import { toJavaScript } from '../typescript/erase-types.js';
import { quoted, toErrorCode } from './error-code.ts';

/** One form of errors: the function's text, and where it is asked for. */
interface Form {
  text: string;
  places: { id: string; status: string }[];
}

export function buildErrorsFile(contract: ReadContract): string {
  const forms = findForms(contract);
  const [most = { text: PLAIN, places: [] }, ...others] = [...forms.values()].sort(
    (a, b) => b.places.length - a.places.length,
  );
  const names = new Map([most, ...others].map((form, index) => [form, `toError${index === 0 ? '' : index + 1}`]));
  const functions = [...names].map(([{ text }, name]) => text.replace('NAME', name)).join('\n');
  if (others.length === 0) return withHead(functions.replace('const toError', 'export const toErrorBody'));
  return withHead(`${functions}
/** Replies that have another form than most: of an operation, or one of its replies. */
const OTHERS = new Map<string, ToErrorBody>([
${toTable(names, most).join('\n')}
]);

export const toErrorBody: ToErrorBody = (error) =>
  (OTHERS.get(\`\${error.operation} \${error.reply}\`) ?? OTHERS.get(\`\${error.operation}\`) ?? toError)(error);
`);
}

function withHead(text: string): string {
  const types = ['OwnError', 'OwnErrorBody', 'ToErrorBody'].filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return `/**
 * The body of each error that the server itself answers, as the contract has it. Written by the names and types of fields: go through
 * it, and say what is true. \`npm run generate\` tries it for every reply.
 */
import type { ${types.join(', ')} } from './engine/error-body.ts';

${text}`;
}

const PLAIN = `const NAME = ({ code, message, status, problems }: OwnError): OwnErrorBody =>
  problems ? { code, message, status, problems } : { code, message, status };
`;

/** The statuses of errors that the server itself answers. */
const STATUSES = toCodes().map((code) => String(kindOf(code).status));

const isError = ({ status, isJson, hasContent }: Reply) =>
  isJson && hasContent && (STATUSES.includes(status) || /^([45]XX|default)$/i.test(status));

function findForms(contract: ReadContract): Map<string, Form> {
  const forms = new Map<string, Form>();
  const made = new Map<Schema, Map<string, string>>();
  const buildCheck = buildChecks({ isJudged: true });
  for (const operation of contract.operations.values()) {
    for (const reply of operation.replies.filter(isError)) {
      const known = made.get(reply.schema) ?? new Map<string, string>();
      const text = known.get(reply.status) ?? toErrorCode(reply, buildCheck);
      made.set(reply.schema, known.set(reply.status, text));
      const form = forms.get(text) ?? { text, places: [] };
      form.places.push({ id: operation.id, status: reply.status });
      forms.set(text, form);
    }
  }
  return forms;
}

/** The statuses of an operation that have a form. */
interface Own {
  form: Form;
  statuses: string[];
}

/** An operation has the form of most of its replies, also where one is not declared. */
function toTable(names: Map<Form, string>, most: Form): string[] {
  const ids = new Set([...names.keys()].flatMap(({ places }) => places.map(({ id }) => id)));
  const lineOf = (place: string, form: Form) => `  [${quoted(place)}, ${names.get(form)}],`;
  return [...ids].flatMap((id) => {
    const own = [...names.keys()].flatMap((form): Own[] => {
      const statuses = form.places.filter((place) => place.id === id).map(({ status }) => status);
      return statuses.length > 0 ? [{ form, statuses }] : [];
    });
    const [usual, ...rest] = own.sort((a, b) => b.statuses.length - a.statuses.length) as [Own, ...Own[]];
    return [
      ...(usual.form === most ? [] : [lineOf(id, usual.form)]),
      ...rest.flatMap(({ form, statuses }) => statuses.map((status) => lineOf(`${id} ${status}`, form))),
    ];
  });
}

/** Loads the function that such a file exports; the file imports nothing but types. */
export async function loadErrors(text: string): Promise<ToErrorBody> {
  const { toErrorBody } = await import(`data:text/javascript,${encodeURIComponent(await toJavaScript(text))}`);
  if (typeof toErrorBody !== 'function') throw new Error('it exports no toErrorBody');
  return toErrorBody;
}
