/** The contract to read without JavaScript: its texts, and each operation with its parameters, its body and its replies. */
import type { Contract, Operation } from '../contract/contract.ts';
import type { Json } from '../schema/json.ts';
import type { ClientFile } from './clients.ts';
import { type Html, html } from './html.ts';

export function toReading(
  { document, resolved, operations, prefix }: Contract,
  clients: ClientFile[],
  root: string,
): Html {
  const { title, version, description } = document.info;
  return html`<main class="reading">
<h1>${title} <small>${version}</small></h1>
<p>To try the operations on this page takes JavaScript. Programs read <a href="${root}openapi.json">openapi.json</a> or
<a href="${root}openapi.yaml">openapi.yaml</a>.</p>
${toProse(description)}
${clients.length > 0 && toClients(clients, root)}
${[...operations.values()].map((operation) => toSection(operation, prefix, resolved.paths[operation.path]))}
</main>`;
}

function toClients(clients: ClientFile[], root: string): Html {
  const links = clients.map(({ path }) => html`<li><a href="${root}docs/clients/${path}">${path}</a></li>`);
  return html`<section><h2>Clients to copy</h2><ul>${links}</ul></section>`;
}

function toSection({ id, method, path, deprecation }: Operation, prefix: string, item: Json): Html {
  const source = item[method.toLowerCase()];
  const parameters: Json[] = [...(item.parameters ?? []), ...(source.parameters ?? [])];
  return html`<section>
<h2>${source.summary ?? id}</h2>
<p><code>${method} ${prefix}${path}</code> ${deprecation && html`<strong>deprecated</strong>`}</p>
${toProse(source.description)}
${parameters.length > 0 && html`<h3>Parameters</h3>`}
<dl>${parameters.map((parameter) => toTerm(`${parameter.name} (${parameter.in})`, parameter.schema, parameter))}</dl>
${Object.entries<Json>(source.requestBody?.content ?? {}).map(
  ([type, { schema }]) => html`<h3>Body: <code>${type}</code></h3>${toFields(schema)}`,
)}
<h3>Replies</h3>
${Object.entries<Json>(source.responses ?? {}).map(([status, response]) => toReply(status, response))}
</section>`;
}

function toReply(status: string, { description, headers = {}, content = {} }: Json): Html {
  const schema = Object.values<Json>(content)[0]?.schema;
  return html`<details><summary>${status}: ${description}</summary>
${Object.keys(headers).length > 0 && html`<p>Headers: ${Object.keys(headers).join(', ')}</p>`}
${schema && toFields(schema)}
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
  return html`<dt><code>${name}</code>: ${describe(schema)}${required ? ', required' : ''}</dt><dd>${toProse(description)}</dd>`;
}

/** What a value may be, in words: `integer, minimum 1, maximum 100, default 20`. */
function describe(any: Json): string {
  const schema = Object(any);
  const type = [schema.type ?? 'any'].flat().join(' or ');
  const limits = ['format', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'enum', 'default'].filter(
    (name) => schema[name] !== undefined,
  );
  return [type, ...limits.map((name) => `${name} ${[schema[name]].flat().join(', ')}`)].join(', ');
}

/** CommonMark reads well as it is; its line ends are kept by the style. */
function toProse(text: string | undefined): Html | undefined {
  return text ? html`<p class="prose">${text}</p>` : undefined;
}
