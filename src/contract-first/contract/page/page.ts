/** The reference of a contract as one page. The build makes it; the server fills what only a start knows (`filled.ts`). */
import type { AnyContract, Operation } from '../../engine/contract/contract.ts';
import type { SchemeNode } from '../../engine/contract/document.ts';
import { listClients } from '../../engine/docs/docs.ts';
import { toBrotli } from '../../engine/docs/documents.ts';
import { pageValues, toServers } from '../../engine/docs/filled.ts';
import { type Html, html } from '../../engine/docs/html.ts';
import { isNode } from '../../engine/schema/json.ts';
import { buildIds } from './ids.ts';
import {
  type PageContext,
  renderFigure,
  renderReplySamples,
  renderSection,
  repliesOf,
  toSampleText,
} from './operation.ts';
import { buildProse, errorCodesIn, splitTopics } from './prose.ts';
import { sampleCurl } from './request.ts';
import { buildSamples } from './sample.ts';
import { renderFields, renderType } from './schema.ts';
import { toSource } from './source.ts';

/** A part of the contents. */
interface Group {
  title: string;
  entries: { id: string; words: Html | string; operation?: Operation }[];
}

/** `clients` are the paths of the clients to copy: `python/client.py`. */
export function renderPage(contract: AnyContract, clients: readonly string[]): string {
  const page = buildPage(contract);
  const [intro, ...topics] = splitTopics(page.document.info.description);
  const guide = topics.map(({ title, text }) => ({ title, text, id: page.ids.add(`about-${title.toLowerCase()}`) }));
  const tags = toTags(page, [...contract.operations.values()]);
  const start = toStart(page, contract, intro?.text);
  const sections = tags.map(([title, operations]) => toTagged(page, title, operations));
  const objects = toObjects(page);
  const headers = page.headers.size > 0 ? [{ id: 'page-headers', words: 'Headers of replies' }] : [];
  const toEntry = (operation: Operation) => {
    return { id: operation.id, words: page.nodesOf(operation).source.summary ?? operation.id, operation };
  };
  const groups: Group[] = [
    { title: 'Start', entries: STARTS },
    ...tags.map(([title, operations]) => ({ title, entries: operations.map(toEntry) })),
    { title: 'Guide', entries: [...guide.map(({ id, title }) => ({ id, words: title })), ...headers] },
    { title: 'Objects', entries: [...page.linked].map((name) => ({ id: page.ids.ofObject(name), words: name })) },
  ];
  const body = html`${toBar(page, contract)}
${toContents(groups, clients)}
<main>
${start}
${sections}
${guide.map(({ id, title, text }) => html`<section id="${id}" class="guide"><h2>${title}</h2>${page.toProse(text)}</section>`)}
${headers.length > 0 && toHeaders(page)}
${page.linked.size > 0 && html`<h2>Objects</h2>${objects}`}
${clients.length > 0 && toClients(clients)}
</main>`;
  return toDocument(contract.title, body);
}

/** As the build writes it, and the server loads it. `clients` is the folder of the clients to copy. */
export const makePage = (contract: AnyContract, clients: URL): Promise<Buffer> =>
  toBrotli(Buffer.from(renderPage(contract, listClients(clients))));

/** The server puts another relative path in place of `./`: a proxy may serve the page below any path. */
const toDocument = (title: string, body: Html): string =>
  html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/png" href="./docs/static/favicon-32x32.png" sizes="32x32">
<link rel="service-desc" type="application/json" href="./openapi.json">
<link rel="stylesheet" href="./docs/static/reading.css">
<script src="./docs/static/reading.js" type="module"></script>
</head>
<body>
${body}
</body>
</html>
`.text;

const STARTS = [
  { id: 'page-servers', words: 'Servers' },
  { id: 'page-authentication', words: 'Authentication' },
];

function buildPage(contract: AnyContract): PageContext {
  const source = toSource(contract);
  const operations = [...contract.operations.values()];
  const ids = buildIds([
    ...operations.map(({ id }) => id),
    ...STARTS.map(({ id }) => id),
    'page-headers',
    'page-clients',
  ]);
  const targets = new Map([
    ...errorCodesIn(source.document.info.description).map((code) => [code, ids.add(`error-${code}`)] as const),
    ...operations.flatMap(({ id, method, path }) => [[id, id] as const, [`${method} ${path}`, id] as const]),
  ]);
  const blanks = pageValues(contract);
  const blank = (name: string) => html`<!--${name}-->${blanks.get(name)}<!---->`;
  const rest = { ids, targets, blank, linked: new Set<string>(), headers: new Map() };
  return { ...source, ...buildSamples(source), ...buildProse(targets), ...rest };
}

/** The operations by their first tag, in the order of the contract's tags. */
function toTags(page: PageContext, operations: Operation[]): [title: string, operations: Operation[]][] {
  const tags = new Map<string, Operation[]>((page.document.tags ?? []).map(({ name }) => [name, []]));
  for (const operation of operations) {
    const title = page.nodesOf(operation).source.tags?.[0] ?? 'Operations';
    tags.set(title, [...(tags.get(title) ?? []), operation]);
  }
  return [...tags].filter(([, own]) => own.length > 0);
}

function toTagged(page: PageContext, title: string, operations: Operation[]): Html {
  const description = page.document.tags?.find(({ name }) => name === title)?.description;
  return html`<section id="${page.ids.add(`tag-${title}`)}" class="tag"><h2>${title}</h2>${page.toProse(description)}</section>
${operations.map((operation) => renderSection(page, operation))}`;
}

/** The first letter of the title leads to the top. The servers are chosen by their index. */
function toBar(page: PageContext, contract: AnyContract): Html {
  const { title, version } = page.document.info;
  const options = toServers(contract).map(
    ({ url, description }, index) =>
      html`<option value="${index}">${index === 0 ? 'This server' : (/^[\w ]{1,30}/.exec(description ?? '')?.[0] ?? url)}</option>`,
  );
  return html`<header><button type="button" popovertarget="page-contents">Contents</button>
<a class="title" href="#">${title}</a> <small>${version}</small>
<select id="page-server" aria-label="Server" hidden>${options}</select>
<a class="try" href="./docs/try">Try it</a></header>`;
}

function toContents(groups: Group[], clients: readonly string[]): Html {
  const lists = groups
    .filter(({ entries }) => entries.length > 0)
    .map(
      ({ title, entries }) => html`<details open><summary>${title}</summary><ul>
${entries.map(
  ({ id, words, operation }) => html`<li><a href="#${id}">${operation?.deprecation ? html`<s>${words}</s>` : words}${
    operation && html` <b class="${operation.method.toLowerCase()}">${operation.method}</b>`
  }</a></li>
`,
)}</ul></details>
`,
    );
  return html`<nav id="page-contents" popover aria-label="Contents">
<p id="page-search" hidden><label>Search <input type="search" autocomplete="off"></label> <output></output></p>
${lists}
<details open><summary>More</summary><ul>
${clients.length > 0 && html`<li><a href="#page-clients">Clients to copy</a></li>`}
<li><a href="./openapi.json">openapi.json</a></li>
<li><a href="./openapi.yaml">openapi.yaml</a></li></ul></details>
</nav>`;
}

/** Title, servers, authentication; beside them a first request, if an operation can be called without parameters. */
function toStart(page: PageContext, contract: AnyContract, intro: string | undefined): Html {
  const first = [...contract.operations.values()].find(
    ({ method, path, parameters }) =>
      method === 'GET' && !path.includes('{') && parameters.every(({ required }) => !required),
  );
  const servers = toServers(contract).map(
    ({ description }, index) =>
      html`<dt><code class="server">${page.blank(`server-${index}`)}</code></dt><dd>${page.toProse(description)}</dd>`,
  );
  return html`<section class="row start">
<div class="words"><h1>${page.document.info.title}</h1>
${page.toProse(intro)}</div>
<div class="samples">${first && toFirstRequest(page, first)}</div>
<div class="fields"><h3 id="page-servers">Servers</h3><dl>${servers}</dl>
<h3 id="page-authentication">Authentication</h3>${toSchemes(page)}</div>
</section>`;
}

function toFirstRequest(page: PageContext, operation: Operation): Html {
  const replies = repliesOf(page, page.nodesOf(operation).source);
  return html`<h2>A first request</h2>
<p id="page-key" hidden><label>Your API key <input type="password" autocomplete="off" spellcheck="false"></label></p>
${renderFigure(sampleCurl(page, operation), html`<a href="#${operation.id}">${operation.id}</a>`, true)}
${renderReplySamples(page, replies.slice(0, 1))}`;
}

function toSchemes({ document, follow, toProse }: PageContext): Html {
  const schemes = Object.entries(document.components?.securitySchemes ?? {}).map(
    ([name, scheme]) => [name, follow(scheme)] as const,
  );
  if (schemes.length === 0) return html`<p>No operation takes a key.</p>`;
  return html`<dl>${schemes.map(([name, scheme]) => html`<dt><code>${name}</code> ${toKind(scheme)}</dt><dd>${toProse(scheme.description)}</dd>`)}</dl>`;
}

function toKind({ type, scheme, in: location, name, flows = {} }: SchemeNode): Html {
  const scopes = [...new Set(Object.values(flows).flatMap((flow) => Object.keys(Object(flow.scopes))))];
  const list = scopes.map((scope, index) => html`${index > 0 && ', '}<code>${scope}</code>`);
  const kind = type === 'http' ? scheme : type === 'apiKey' ? `in the ${location} ${name}` : 'bearer token';
  return html`${kind}${scopes.length > 0 && ', with the scopes '}${list}`;
}

function toHeaders(page: PageContext): Html {
  const terms = [...page.headers.values()].map(({ id, name, nodes }) => {
    const [{ schema } = {}] = nodes;
    return html`<dt id="${id}"><a href="#${id}"><code>${name}</code></a> ${renderType(page, schema)}</dt>
${nodes.map(({ description }) => html`<dd>${page.toProse(description)}</dd>`)}
`;
  });
  return html`<section id="page-headers" class="guide"><h2>Headers of replies</h2><dl>${terms}</dl></section>`;
}

/** Each object that was linked to, those that its own fields lead to as well. */
function toObjects(page: PageContext): Html[] {
  const sections: Html[] = [];
  for (const name of page.linked) {
    const schema = page.document.components?.schemas?.[name];
    const value = page.ofSchema(schema, 'writeOnly');
    const id = page.ids.ofObject(name);
    sections.push(html`<section id="${id}" class="row">
<div class="words"><h3>${name}</h3>${page.toProse(page.flat(schema).description)}</div>
<div class="samples">${isNode(value) && renderFigure(toSampleText(value), name)}</div>
<div class="fields">${renderFields(page, schema, id)}</div>
</section>
`);
  }
  return sections;
}

function toClients(clients: readonly string[]): Html {
  const rows = clients.map((path) => {
    const button = html` <button type="button" class="copy" data-fetch="./docs/clients/${path}">Copy</button>`;
    return html`<li><a href="./docs/clients/${path}">${path}</a>${!path.endsWith('.md') && button}</li>`;
  });
  return html`<section id="page-clients" class="guide"><h2>Clients to copy</h2>
<p>Each is one file that tries again within bounds, and adds nothing twice; its README says how it is used.</p><ul>${rows}</ul></section>`;
}
