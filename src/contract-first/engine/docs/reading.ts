/** The page to read: a first request, each operation, and the topics of the contract's description. */
import type { AnyContract, Operation } from '../contract/contract.ts';
import { nodesOf } from '../contract/document.ts';
import type { ClientFile } from './clients.ts';
import { buildToCurl } from './curl.ts';
import { type Html, html } from './html.ts';
import { buildToSection } from './operation.ts';
import { toCodes, toProse, toTopics } from './prose.ts';

export function toReading(contract: AnyContract, clients: ClientFile[], root: string): Html {
  const { document, resolved, prefix } = contract;
  const { title, version, description } = document.info;
  const operations = [...contract.operations.values()];
  const targets = new Map([
    ...toCodes(description).map((code) => [code, `error-${code}`] as const),
    ...operations.flatMap(({ id, method, path }) => [[id, id] as const, [`${method} ${path}`, id] as const]),
  ]);
  const [intro, ...topics] = toTopics(description);
  const toCurl = buildToCurl(contract);
  const toSection = buildToSection({ prefix, root, targets, toCurl });
  const first = operations.find(isFirst) ?? operations[0];
  return html`<header><a href="#">${title}</a> <small>${version}</small> <a class="contents" href="#contents">Contents</a> <a class="try" href="${root}docs/try">Try it in Swagger UI</a></header>
<main>
<h1>${title}</h1>
${toProse(intro?.text, targets)}
${first && toFirstRequest(first, toCurl(first, 'first'), prefix)}
${operations.map((operation) => toSection(operation, nodesOf(resolved, operation)))}
${topics.map((topic) => html`<section id="${topic.id}"><h2>${topic.title}</h2>${toProse(topic.text, targets)}</section>`)}
${clients.length > 0 && toClients(clients, root)}
</main>
<nav id="contents" aria-label="Contents">
<h2>Operations</h2>
<ul>${operations.map(toEntry)}</ul>
<h2>Topics</h2>
<ul>${topics.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
${clients.length > 0 && html`<li><a href="#clients">Clients to copy</a></li>`}</ul>
<h2>For programs</h2>
<ul><li><a href="${root}openapi.json">openapi.json</a></li><li><a href="${root}openapi.yaml">openapi.yaml</a></li></ul>
</nav>`;
}

/** Whether the operation can be called without parameters. */
function isFirst({ method, path, parameters }: Operation): boolean {
  return method === 'GET' && !path.includes('{') && parameters.every(({ required }) => !required);
}

function toFirstRequest({ path }: Operation, curl: Html, prefix: string): Html {
  return html`<section id="first-request"><h2>A first request</h2>
<p><label>Your API key <input id="key" type="password" autocomplete="off" spellcheck="false"></label>
<button type="button" data-send="${prefix}${path}">Send</button></p>
${curl}
<output></output>
</section>`;
}

function toEntry({ id, method, deprecation }: Operation): Html {
  return html`<li><a href="#${id}"><code>${method}</code> ${deprecation ? html`<s>${id}</s>` : id}</a></li>`;
}

function toClients(clients: ClientFile[], root: string): Html {
  const rows = clients.map(({ path }) => {
    const button = html`<button type="button" data-fetch="${root}docs/clients/${path}">Copy</button>`;
    return html`<li><a href="${root}docs/clients/${path}">${path}</a> ${!path.endsWith('.md') && button}</li>`;
  });
  return html`<section id="clients"><h2>Clients to copy</h2>
<p>Each is one file that tries again within bounds, and adds nothing twice; its README says how it is used.</p><ul>${rows}</ul></section>`;
}
