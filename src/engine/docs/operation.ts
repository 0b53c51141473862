/** An operation to read: its request, parameters, body and replies. */
import type { Deprecation, Operation } from '../contract/contract.ts';
import type { Json } from '../schema/json.ts';
import { type Html, html } from './html.ts';
import { type Targets, toInline, toProse } from './prose.ts';

interface Page {
  prefix: string;
  root: string;
  targets: Targets;
  toCurl: (operation: Operation) => Html;
}

export function buildToSection({ prefix, root, targets, toCurl }: Page): (operation: Operation, item: Json) => Html {
  return (operation, item) => {
    const { id, method, path, deprecation } = operation;
    const source = item[method.toLowerCase()];
    const parameters: Json[] = [...(item.parameters ?? []), ...(source.parameters ?? [])];
    return html`<section id="${id}">
<h2>${source.summary ?? id}</h2>
<p><code>${method} ${prefix}${path}</code> <a href="${root}docs/try#/${source.tags?.[0] ?? 'default'}/${id}">Try it</a></p>
${deprecation && toNotice(deprecation)}
${toProse(source.description, targets)}
${toCurl(operation)}
${parameters.length > 0 && html`<h3>Parameters</h3>`}
<dl>${parameters.map((parameter) => toTerm(`${parameter.name} (${parameter.in})`, parameter.schema, parameter))}</dl>
${Object.entries<Json>(source.requestBody?.content ?? {}).map(
  ([type, { schema }]) => html`<h3>Body: <code>${type}</code></h3>${toFields(schema)}`,
)}
<h3>Replies</h3>
${Object.entries<Json>(source.responses ?? {}).map(([status, response]) => toReply(status, response, targets))}
</section>`;
  };
}

function toNotice({ at, sunset, successor }: Deprecation): Html {
  const day = (date: Date | undefined) => date?.toISOString().slice(0, 10);
  return html`<p class="deprecated">Deprecated${at && ` since ${day(at)}`}${sunset && `, to be removed on ${day(sunset)}`}${
    successor && html`, use <a href="#${successor}">${successor}</a>`
  }.</p>`;
}

/** The body of an error is that of all, which stands where its code leads. */
function toReply(status: string, { description, headers = {}, content = {} }: Json, targets: Targets): Html {
  const { schema, examples = {} } = Object.values<Json>(content)[0] ?? {};
  const errors = Object.values<Json>(examples).filter(({ value }) => targets.has(value?.code));
  return html`<details><summary>${status}: ${toInline(description)}</summary>
${errors.map(({ value }) => html`<p><a href="#${targets.get(value.code)}"><code>${value.code}</code></a>: ${value.message}</p>`)}
${Object.keys(headers).length > 0 && html`<p>Headers: ${Object.keys(headers).join(', ')}</p>`}
${schema && errors.length === 0 && toFields(schema)}
</details>`;
}

/** One level of fields: a schema may refer to itself. */
function toFields(schema: Json): Html {
  const { properties, required = [], items } = Object(schema);
  if (items?.properties) return html`<p>An array of:</p>${toFields({ ...items, items: undefined })}`;
  const fields = Object.entries<Json>(properties ?? {});
  if (fields.length === 0) return html`<p>${describe(schema)}</p>`;
  return html`<dl>${fields.map(([name, field]) =>
    toTerm(name, field, { required: required.includes(name), description: field.description }),
  )}</dl>`;
}

function toTerm(name: string, schema: Json, { required, description }: Json): Html {
  return html`<dt><code>${name}</code> ${describe(schema)}${required ? ', required' : ''}</dt><dd>${toProse(description)}</dd>`;
}

/** Of JSON Schema, where its own are no English. */
const WORDS: Record<string, string> = { enum: 'one of', minLength: 'length from', maxLength: 'length up to' };

/** What a value may be, in words: `integer, minimum 1, maximum 100, default 20`. What a pattern means, the description says. */
function describe(any: Json): string {
  const schema = Object(any);
  const type = [schema.type ?? 'any'].flat().join(' or ');
  const limits = ['format', 'minimum', 'maximum', 'minLength', 'maxLength', 'enum', 'default'].filter(
    (name) => schema[name] !== undefined,
  );
  const values = limits.map((name) => `${WORDS[name] ?? name} ${[schema[name]].flat().join(', ')}`);
  return [type, ...values].join(', ');
}
