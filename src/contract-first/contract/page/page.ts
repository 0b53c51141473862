/**
 * Writes the reference page of a contract, at the build. The server fills in the values that only a start knows
 * (`filled.ts`).
 */
import { existsSync, readFileSync } from 'node:fs';
import type { AnyContract, Operation } from '../../engine/contract/contract.ts';
import type { SchemeNode } from '../../engine/contract/document.ts';
import { listClients } from '../../engine/docs/docs.ts';
import { toBrotli } from '../../engine/docs/documents.ts';
import { pageValues, toServers } from '../../engine/docs/filled.ts';
import { type Html, html } from '../../engine/docs/html.ts';
import { isNode } from '../../engine/schema/json.ts';
import { buildIds } from './ids.ts';
import {
  type ClientProgram,
  type PageContext,
  renderFigure,
  renderReplySamples,
  renderSection,
  repliesOf,
  toSampleText,
} from './operation.ts';
import { buildProse, errorCodesIn, splitTopics } from './prose.ts';
import { addRecipes, type Recipe } from './recipes.ts';
import { sampleCurl } from './request.ts';
import { buildSamples } from './sample.ts';
import { join, renderFields, renderType } from './schema.ts';
import { toSource } from './source.ts';

/** A group of links in the table of contents. */
interface Group {
  title: string;
  entries: { id: string; words: Html | string; operation?: Operation }[];
}

/**
 * Writes the page. `clients` lists the paths of the clients that readers can copy, such as `python/client.py`.
 * `changes` is the change log in Markdown.
 */
export function renderPage(
  contract: AnyContract,
  clients: readonly string[],
  changes = '',
  programs: ClientProgram[] = [],
): string {
  const page = { ...buildPage(contract), programs };
  const [intro, ...topics] = splitTopics(page.document.info.description);
  const guide = addRecipes(page, contract.operations.values(), topics).map((topic) => ({
    ...topic,
    id: page.ids.add(`about-${topic.title.toLowerCase()}`),
  }));
  const tags = toTags(page, [...contract.operations.values()]);
  const start = toStart(page, contract, intro?.text, changes !== '');
  const sections = tags.map(([title, operations]) => toTagged(page, title, operations));
  const objects = toObjects(page);
  const headers = page.headers.size > 0 ? [{ id: 'page-headers', words: 'Headers of replies' }] : [];
  const more = [
    ...(clients.length > 0 ? [{ id: 'page-clients', words: 'Clients to copy' }] : []),
    ...(changes ? [{ id: 'page-changes', words: 'Changes' }] : []),
  ];
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
${toContents(groups, more)}
<main>
${start}
${sections}
${guide.map((topic) => toTopic(page, topic))}
${headers.length > 0 && toHeaders(page)}
${page.linked.size > 0 && html`<h2>Objects</h2>${objects}`}
${clients.length > 0 && toClients(clients)}
${changes && toChanges(page, changes)}
</main>`;
  return toDocument(contract.title, body);
}

/**
 * Writes the page, compressed, as the server loads it. `folder` contains the contract, and may contain `clients/` and
 * `CHANGELOG.md`.
 */
export function makePage(contract: AnyContract, folder: URL): Promise<Buffer> {
  const log = new URL('CHANGELOG.md', folder);
  const changes = existsSync(log) ? readFileSync(log, 'utf8') : '';
  const clients = new URL('clients/', folder);
  const paths = listClients(clients);
  const readmes = paths.filter((path) => path.endsWith('/README.md'));
  const programs = readmes.flatMap((path) => findPrograms(readFileSync(new URL(path, clients), 'utf8')));
  return toBrotli(Buffer.from(renderPage(contract, paths, changes, programs)));
}

/** Finds the programs in the README of a client: the blocks of code with an operationId after their language. */
function findPrograms(readme: string): ClientProgram[] {
  const language = `${/^# (.*)/.exec(readme)?.[1] ?? 'With the'} client`;
  const blocks = readme.matchAll(/^```\w+ (\S+)\n([\s\S]*?)\n```/gm);
  return [...blocks].map(([, operationId = '', text = '']) => ({ language, operationId, text }));
}

/**
 * Writes the HTML document. The server replaces `./` by another relative path, because a proxy may serve the page below
 * any path.
 */
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
<link rel="stylesheet" href="./docs/static/page.css">
<script src="./docs/static/reference.js" type="module"></script>
</head>
<body>
${body}
</body>
</html>
`.text;

const STARTS = [
  { id: 'page-introduction', words: 'Introduction' },
  { id: 'page-authentication', words: 'Authentication' },
  { id: 'page-servers', words: 'Servers' },
];

/** Ids that the page itself uses, so that no operation or topic gets them. */
const OWN_IDS = ['headers', 'clients', 'changes', 'objects', 'contents', 'search', 'server', 'key', 'form'].map(
  (name) => `page-${name}`,
);

function buildPage(contract: AnyContract): Omit<PageContext, 'programs'> {
  const source = toSource(contract);
  const operations = [...contract.operations.values()];
  const ids = buildIds([...operations.map(({ id }) => id), ...STARTS.map(({ id }) => id), ...OWN_IDS]);
  const targets = new Map([
    ...errorCodesIn(source.document.info.description).map((code) => [code, ids.add(`error-${code}`)] as const),
    ...operations.flatMap(({ id, method, path }) => [[id, id] as const, [`${method} ${path}`, id] as const]),
  ]);
  const blanks = pageValues(contract);
  const blank = (name: string) => html`<!--${name}-->${blanks.get(name)}<!---->`;
  const rest = { ids, targets, blank, linked: new Set<string>(), headers: new Map() };
  return { ...source, ...buildSamples(source), ...buildProse(targets), ...rest };
}

/** Groups the operations by their first tag, in the order of the contract's `tags`. */
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
  const id = page.ids.ofTag(title);
  return html`<section id="${id}" class="tag">${toHeading('h2', id, title)}${page.toProse(description)}</section>
${operations.map((operation) => renderSection(page, operation))}`;
}

/**
 * Renders the bar at the top, which the server also adds to the form. In the list of servers, the value of an option is
 * the index of the server.
 */
function toBar(page: PageContext, contract: AnyContract): Html {
  const { title, version } = page.document.info;
  const options = toServers(contract).map(
    ({ url, description }, index) =>
      html`<option value="${index}">${index === 0 ? 'This server' : (/^[\w ]{1,30}/.exec(description ?? '')?.[0] ?? url)}</option>`,
  );
  const hasKeys = Object.keys(page.document.components?.securitySchemes ?? {}).length > 0;
  return html`<header><button type="button" popovertarget="page-contents" aria-label="Contents">☰</button>
<a class="title" href="#">${title}</a> <small>${version}</small>
<a class="tab" href="#" aria-current="page">Reference</a> <a class="tab" href="./docs/try">Form</a>
<select id="page-server" aria-label="Server" hidden>${options}</select>
${hasKeys && KEY_FIELD}</header>`;
}

const KEY_FIELD = html`<button type="button" popovertarget="page-key" class="with-key" hidden>Set API key</button>
<div id="page-key" popover role="dialog" aria-label="Key">
<p><label>API key <input class="key" type="password" autocomplete="off" spellcheck="false" autofocus></label></p>
<p><label><input type="checkbox"> Remember it in this browser</label></p>
<p><small>Otherwise it is gone with this tab. <a href="#page-authentication">How to get a key</a></small></p>
<p><button type="button" class="forget">Forget it</button> <button type="button" class="primary" popovertarget="page-key">Done</button></p></div>`;

function toContents(groups: Group[], more: Group['entries']): Html {
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
<p id="page-search" hidden><input type="search" aria-label="Search" placeholder="Search: press /" autocomplete="off"> <output></output></p>
${lists}
<details open><summary>More</summary><ul>
${more.map(
  ({ id, words }) => html`<li><a href="#${id}">${words}</a></li>
`,
)}<li><a href="./openapi.json">openapi.json</a></li>
<li><a href="./openapi.yaml">openapi.yaml</a></li></ul></details>
</nav>`;
}

function toHeading(name: 'h2' | 'h3', id: string, words: string): Html {
  const link = html`<a href="#${id}">${words}</a>`;
  return name === 'h2' ? html`<h2>${link}</h2>` : html`<h3>${link}</h3>`;
}

/**
 * Renders the first screen: the service and its operations. If a GET needs no parameters, its request is shown next to
 * them.
 */
function toStart(page: PageContext, contract: AnyContract, intro: string | undefined, hasChanges: boolean): Html {
  const operations = [...contract.operations.values()];
  const first = operations.find(
    ({ method, path, parameters, deprecation }) =>
      method === 'GET' && !path.includes('{') && !deprecation && parameters.every(({ required }) => !required),
  );
  const servers = toServers(contract).map(
    ({ description }, index) =>
      html`<dt><code class="server">${page.blank(`server-${index}`)}</code></dt><dd>${page.toProse(description)}</dd>`,
  );
  return html`<section id="page-introduction" class="row start">
<div class="words"><h1>${page.document.info.title}</h1>
${page.toProse(intro)}
${toOverview(page, operations)}
${toFacts(page, hasChanges)}</div>
<div class="samples">${first && toFirstRequest(page, first)}</div>
<div class="fields"><h2 id="page-authentication"><a href="#page-authentication">Authentication</a></h2>${toSchemes(page)}
<h2 id="page-servers"><a href="#page-servers">Servers</a></h2><dl>${servers}</dl></div>
</section>`;
}

/** The maximum number of operations on the first screen. If there are more, it lists the tags instead. */
const MOST_OPERATIONS = 9;

function toOverview(page: PageContext, operations: Operation[]): Html {
  const tags = toTags(page, operations);
  if (operations.length > MOST_OPERATIONS && tags.length > 1) {
    const rows = tags.map(
      ([title, own]) =>
        html`<li><a href="#${page.ids.ofTag(title)}">${title}</a> <small>${own.length} operation${own.length > 1 && 's'}</small></li>`,
    );
    return html`<ul class="overview">${rows}</ul>`;
  }
  const rows = operations.map((operation) => {
    const { id, method, path, deprecation } = operation;
    const words = page.nodesOf(operation).source.summary ?? id;
    return html`<li><b class="${method.toLowerCase()}">${method}</b> <a href="#${id}">${deprecation ? html`<s>${words}</s>` : words}</a> <code>${path}</code></li>`;
  });
  return html`<ul class="overview">${rows}</ul>`;
}

function toFacts({ document, blank }: PageContext, hasChanges: boolean): Html {
  const { version, contact: { name, url = '', email } = {} } = document.info;
  const words = name ?? url;
  const help = [
    /^https?:/i.test(url) ? html`<a href="${url}">${words}</a>` : words,
    email ? html`<a href="mailto:${email}">${email}</a>` : '',
  ].filter((one) => one !== '');
  return html`<dl class="facts"><dt>Base URL</dt><dd><code class="base">${blank('server-0')}</code></dd>
<dt>Version</dt><dd>${version}${hasChanges && html`, <a href="#page-changes">changes</a>`}</dd>
${help.length > 0 && html`<dt>Help</dt><dd>${join(help, ', ')}</dd>`}</dl>`;
}

function toFirstRequest(page: PageContext, operation: Operation): Html {
  const replies = repliesOf(page, page.nodesOf(operation).source);
  const field = html`<p class="with-key" hidden><label>Your API key <input class="key" type="password" autocomplete="off" spellcheck="false"></label></p>`;
  return html`<h2>Quick start</h2>
${operation.security.length > 0 && field}
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

function toTopic(
  page: PageContext,
  { id, title, text, recipe }: { id: string; title: string; text: string; recipe?: Recipe },
) {
  const words = html`${toHeading('h2', id, title)}${page.toProse(text)}`;
  if (!recipe) return html`<section id="${id}" class="guide">${words}</section>`;
  const { operation, name } = recipe;
  const figure = renderFigure(recipe.text, html`<a href="#${operation.id}">${operation.id}</a>`, true, name);
  return html`<section id="${id}" class="row"><div class="words">${words}</div><div class="samples">${figure}</div></section>
`;
}

function toHeaders(page: PageContext): Html {
  const terms = [...page.headers.values()].map(({ id, name, nodes }) => {
    const [{ schema } = {}] = nodes;
    return html`<dt id="${id}"><a href="#${id}"><code>${name}</code></a> ${renderType(page, schema)}</dt>
${nodes.map(({ description }) => html`<dd>${page.toProse(description)}</dd>`)}
`;
  });
  return html`<section id="page-headers" class="guide">${toHeading('h2', 'page-headers', 'Headers of replies')}<dl>${terms}</dl></section>`;
}

/** Renders each object that the page links to. The fields of an object may add further links while the loop runs. */
function toObjects(page: PageContext): Html[] {
  const sections: Html[] = [];
  for (const name of page.linked) {
    const schema = page.document.components?.schemas?.[name];
    const value = page.ofSchema(schema, 'writeOnly');
    const id = page.ids.ofObject(name);
    sections.push(html`<section id="${id}" class="row">
<div class="words">${toHeading('h3', id, name)}${page.toProse(page.flat(schema).description)}</div>
<div class="samples">${isNode(value) && renderFigure(toSampleText(value), name)}</div>
<div class="fields">${renderFields(page, schema, id)}</div>
</section>
`);
  }
  return sections;
}

function toClients(clients: readonly string[]): Html {
  const rows = clients.map((path) => {
    const url = `./docs/clients/${path.split('/').map(encodeURIComponent).join('/')}`;
    const button = html` <button type="button" class="copy" data-fetch="${url}">Copy</button>`;
    return html`<li><a href="${url}">${path}</a>${!path.endsWith('.md') && button}</li>`;
  });
  return html`<section id="page-clients" class="guide">${toHeading('h2', 'page-clients', 'Clients to copy')}
<p>Each is one file that tries again within bounds, and adds nothing twice; its README says how it is used.</p><ul>${rows}</ul></section>`;
}

/**
 * Renders the change log without its title, because the section already shows a title, and with its headings one level
 * deeper.
 */
const toChanges = (page: PageContext, changes: string): Html =>
  html`<section id="page-changes" class="guide">${toHeading('h2', 'page-changes', 'Changes')}
${page.toProse(changes.replace(/^# .*\n/, '').replace(/^##/gm, '###'))}</section>`;
