/** The section of an operation: its request, parameters, body and replies. */
import type { Deprecation, Operation } from '../contract/contract.ts';
import type { ExampleNode, MediaNode, nodesOf, ResponseNode } from '../contract/document.ts';
import { keywordsOf, type Schema } from '../schema/json.ts';
import { type Html, html, toText } from './html.ts';
import { type Targets, toInline, toProse } from './prose.ts';

interface Page {
  prefix: string;
  root: string;
  targets: Targets;
  toCurl: (operation: Operation) => Html;
}

type ToSection = (operation: Operation, nodes: ReturnType<typeof nodesOf>) => Html;

export function buildToSection({ prefix, root, targets, toCurl }: Page): ToSection {
  return (operation, { item, source }) => {
    const { id, method, path, deprecation } = operation;
    const parameters = [...(item.parameters ?? []), ...(source.parameters ?? [])];
    return html`<section id="${id}">
<h2>${source.summary ?? id}</h2>
<p><code>${method} ${prefix}${path}</code> <a href="${root}docs/try#/${source.tags?.[0] ?? 'default'}/${id}">Try it</a></p>
${deprecation && toNotice(deprecation)}
${toProse(source.description, targets)}
${toCurl(operation)}
${parameters.length > 0 && html`<h3>Parameters</h3>`}
<dl>${parameters.map((parameter) => toTerm(`${parameter.name} (${parameter.in})`, parameter.schema, parameter))}</dl>
${Object.entries(source.requestBody?.content ?? {}).map(
  ([type, { schema }]) => html`<h3>Body: <code>${type}</code></h3>${toFields(schema)}`,
)}
<h3>Replies</h3>
${Object.entries(source.responses ?? {}).map(([status, response]) => toReply(status, response, targets))}
</section>`;
  };
}

function toNotice({ at, sunset, successor }: Deprecation): Html {
  const day = (date: Date | undefined) => date?.toISOString().slice(0, 10);
  return html`<p class="deprecated">Deprecated${at && ` since ${day(at)}`}${sunset && `, to be removed on ${day(sunset)}`}${
    successor && html`, use <a href="#${successor}">${successor}</a>`
  }.</p>`;
}

/** Errors are listed with their message and a link to the table of codes, without their body, which is always the same. */
function toReply(status: string, { description, headers = {}, content = {} }: ResponseNode, targets: Targets): Html {
  const { schema, examples = {} }: MediaNode = Object.values(content)[0] ?? {};
  const errors = Object.values(examples)
    .map(toError)
    .filter(({ code }) => targets.has(code));
  return html`<details><summary>${status}: ${toInline(description)}</summary>
${errors.map(({ code, message }) => html`<p><a href="#${targets.get(code)}"><code>${code}</code></a>: ${message}</p>`)}
${Object.keys(headers).length > 0 && html`<p>Headers: ${Object.keys(headers).join(', ')}</p>`}
${schema && errors.length === 0 && toFields(schema)}
</details>`;
}

/** An example as an error. Code and message may be missing, or of another type. */
function toError({ value }: ExampleNode): { code: string; message: string } {
  const { code, message } = Object(value);
  return { code, message: toText(message) };
}

/** The fields of a schema, one level deep: it may refer to itself. */
function toFields(schema: Schema | undefined): Html {
  const { properties = {}, required = [], items } = keywordsOf(schema);
  const ofItem = keywordsOf(items);
  if (ofItem.properties) return html`<p>An array of:</p>${toFields({ ...ofItem, items: undefined })}`;
  const fields = Object.entries(properties);
  if (fields.length === 0) return html`<p>${describe(schema)}</p>`;
  return html`<dl>${fields.map(([name, field]) =>
    toTerm(name, field, { required: required.includes(name), description: keywordsOf(field).description }),
  )}</dl>`;
}

type Words = { required?: boolean; description?: string | undefined };

function toTerm(name: string, schema: Schema | undefined, { required, description }: Words): Html {
  return html`<dt><code>${name}</code> ${describe(schema)}${required ? ', required' : ''}</dt><dd>${toProse(description)}</dd>`;
}

/** English words for keywords of JSON Schema. */
const WORDS: Record<string, string> = { enum: 'one of', minLength: 'length from', maxLength: 'length up to' };

/** A schema in words: `integer, minimum 1, maximum 100, default 20`. Patterns are left to the description. */
function describe(any: Schema | undefined): string {
  const schema = keywordsOf(any);
  const type = [schema.type ?? 'any'].flat().join(' or ');
  const limits = ['format', 'minimum', 'maximum', 'minLength', 'maxLength', 'enum', 'default'].filter(
    (name) => schema[name] !== undefined,
  );
  const values = limits.map((name) => `${WORDS[name] ?? name} ${[schema[name]].flat().map(toText).join(', ')}`);
  return [type, ...values].join(', ');
}
