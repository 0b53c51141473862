/**
 * Renders the section of an operation: its description, its request and sample replies, then its parameters, body and
 * replies.
 */
import { stringify } from 'lossless-json';
import type { Operation } from '../../engine/contract/contract.ts';
import type { HeaderNode, MediaNode, OperationNode, ResponseNode } from '../../engine/contract/document.ts';
import { isJson, toMediaType, toServedType } from '../../engine/contract/replies.ts';
import { type Html, html } from '../../engine/docs/html.ts';
import { type Targets, toContent, toText } from './prose.ts';
import { type SampleValues, sampleCurl } from './request.ts';
import { join, renderFields, renderTerm, renderType, type Vocabulary } from './schema.ts';

interface NamedHeader {
  id: string;
  name: string;
  nodes: HeaderNode[];
}

/** The values that all sections of a page share. */
export interface PageContext extends Vocabulary, SampleValues {
  targets: Targets;
  /** The headers of replies that were already rendered, by lower-case name. */
  headers: Map<string, NamedHeader>;
  programs: ClientProgram[];
}

/** A program that calls an operation with one of the clients to copy. */
export interface ClientProgram {
  /** The name in the list of languages, such as `Python client`. */
  language: string;
  operationId: string;
  /**
   * The text of the program, with the placeholders `https://SERVER`, `<API_KEY>` and `<UUID>` for the reader's values.
   */
  text: string;
}

/**
 * Renders a sample of a request or a reply. The page's script translates requests into other languages; `recipe` names
 * the program of the guide for the script.
 */
export function renderFigure(
  text: Html | string,
  caption: Html | string | undefined,
  isRequest = false,
  recipe?: string,
  programs?: Html[],
): Html {
  return html`<figure${isRequest && html` class="request"`}${recipe !== undefined && html` data-recipe="${recipe}"`}><figcaption><span>${caption}</span><button type="button" class="copy">Copy</button></figcaption>
<pre tabindex="0">${typeof text === 'string' ? toContent(text) : text}</pre>${programs}</figure>
`;
}

/**
 * Renders the programs of an operation, all hidden. The page's script shows the one in the language that the reader
 * chooses.
 */
function toPrograms({ programs, blank }: PageContext, { id }: Operation): Html[] {
  const own = programs.filter(({ operationId }) => operationId === id);
  return own.map(({ language, text }) => {
    const [start = '', ...rest] = text.split('https://SERVER');
    const content = rest.length > 0 && html`${blank('base')}${toContent(rest.join('https://SERVER'))}`;
    return html`<pre hidden data-language="${language}">${toContent(start)}${content}</pre>`;
  });
}

export function renderSection(page: PageContext, operation: Operation): Html {
  const { id, method, path } = operation;
  const { source } = page.nodesOf(operation);
  const replies = repliesOf(page, source);
  return html`<section id="${id}" class="row">
<div class="words">
<h3><a href="#${id}">${source.summary ?? id}</a></h3>
<p><b class="${method.toLowerCase()}">${method}</b> <code>${page.blank('prefix')}${path}</code>${source.summary && html` <small>${id}</small>`}</p>
${toNotice(page, operation)}
${page.toProse(source.description)}
<p>${toKeys(operation)}</p>
</div>
<div class="samples">
${renderFigure(sampleCurl(page, operation), toTryLink(operation, source), true, undefined, toPrograms(page, operation))}
${renderReplySamples(page, replies)}
</div>
<div class="fields">
${toParameters(page, operation)}
${toBody(page, operation, source)}
<h4>Replies</h4>
<dl class="replies">${replies.map((reply, _, [first]) => toReply(page, id, reply, (first as NamedReply)[1]))}</dl>
</div>
</section>
`;
}

const PLACES = [
  ['path', 'In the path'],
  ['query', 'In the query'],
  ['header', 'Headers'],
  ['cookie', 'Cookies'],
] as const;

const toTryLink = ({ id }: Operation, { tags }: OperationNode): Html =>
  html`<a href="./docs/try#/${encodeURIComponent((tags?.[0] ?? 'default').toWellFormed())}/${id}">Form</a>`;

const toDay = (date: Date): string => date.toISOString().slice(0, 10);

function toNotice({ targets }: PageContext, { deprecation }: Operation): Html | undefined {
  if (!deprecation) return undefined;
  const { at, sunset, successor } = deprecation;
  return html`<p class="deprecated">Deprecated${at && ` since ${toDay(at)}`}${
    sunset && html`, to be removed on ${toDay(sunset)}`
  }${successor && html`, use <a href="#${targets.get(successor)}">${successor}</a>`}.</p>`;
}

/** Renders which keys and scopes an operation needs, with a link to the explanation of authentication. */
function toKeys({ security, isKeyOptional }: Operation): Html {
  if (security.length === 0) return html`Takes no key.`;
  const kinds = security.map((requirement) => {
    const keys = [requirement, ...requirement.alsoNeeded];
    const locations = keys.map(
      ({ location }) => html`<a href="#page-authentication">a key</a> as <code>${location.name}</code>`,
    );
    const scopes = keys.flatMap((key) => key.scopes).map((scope) => html`<code>${scope}</code>`);
    const key =
      security.length + keys.length > 2 ? join(locations, ' and ') : html`<a href="#page-authentication">a key</a>`;
    return html`${key}${scopes.length > 0 && html` with ${join(scopes, ', ')}`}`;
  });
  return html`Takes ${join(kinds, ', or ')}${isKeyOptional && ', or none'}.`;
}

function toParameters(page: PageContext, operation: Operation): Html[] {
  const { parameters } = page.nodesOf(operation);
  return PLACES.map(([location, title]) => {
    const terms = parameters
      .filter((one) => one.in === location)
      .map((one) => {
        const [media] = Object.values(one.content ?? {});
        return renderTerm(page, one.name, one.schema ?? media?.schema, operation.id, one);
      });
    return html`${terms.length > 0 && html`<h4>${title}</h4><dl>${terms}</dl>`}`;
  });
}

/** Renders the fields of the body's first media type, because the fields of the other types are usually the same. */
function toBody(page: PageContext, { id, body }: Operation, { requestBody }: OperationNode): Html | undefined {
  const { description, content = {} } = page.follow(requestBody) ?? {};
  const [media] = Object.values(content);
  if (!body || !media) return undefined;
  const types = Object.keys(content).map((type) => html`<code>${toMediaType(type)}</code>`);
  return html`<h4>Body ${join(types, ', ')}</h4>${page.toProse(description)}${renderFields(page, media.schema, id)}`;
}

/** Returns the error codes in the examples of a reply. */
function codesOf({ follow, targets }: PageContext, { content = {} }: ResponseNode): string[] {
  const examples = Object.values(Object.values(content)[0]?.examples ?? {}).map((one) => Object(follow(one).value));
  return examples.map(({ code }) => toText(code)).filter((code) => targets.has(code));
}

type NamedReply = readonly [status: string, reply: ResponseNode];

export const repliesOf = ({ follow }: PageContext, { responses = {} }: OperationNode): NamedReply[] =>
  Object.entries(responses).map(([status, reply]) => [status, follow(reply)]);

/** Renders samples of each reply with a body. The samples of the first reply are open, all others folded. */
export function renderReplySamples(page: PageContext, replies: NamedReply[]): Html[] {
  const shown = replies.filter(([, { content = {} }]) => Object.keys(content).length > 0);
  return shown.map(([status, reply], index) => {
    const words = codesOf(page, reply).join(', ') || toFirstSentence(reply.description);
    return html`<details${index === 0 && html` open`}><summary><code>${status}</code> ${page.toInline(words)}</summary>
${toBodies(page, reply)}</details>
`;
  });
}

const toFirstSentence = (text: string): string => (text.trim().split(/(?<=\.)\s|\n/)[0] as string).replace(/\.$/, '');

/**
 * Renders samples of a reply's bodies. A media type after the first is shown only if the contract contains an example
 * of it.
 */
function toBodies(page: PageContext, { content = {} }: ResponseNode): Html[] {
  const isWritten = ({ example, examples }: MediaNode) => example !== undefined || examples !== undefined;
  const entries = Object.entries(content);
  return entries.flatMap(([type, media], index) => {
    if (index > 0 && !isWritten(media)) return [];
    const samples = isJson(toServedType(type)) || isWritten(media) ? page.ofMedia(media, 'writeOnly') : [];
    const kind = entries.length > 1 ? type : undefined;
    if (samples.length === 0) return [renderFigure(`A body of type ${type}`, kind)];
    return samples.map(({ summary, value }) => renderFigure(toSampleText(value, type), summary ?? kind));
  });
}

export const toSampleText = (value: unknown, type = 'application/json'): string =>
  isJson(toServedType(type)) || typeof value !== 'string' ? (stringify(value, null, 2) as string) : value;

/** Renders a reply. Headers that the first reply also declares are not repeated. */
function toReply(page: PageContext, path: string, [status, reply]: NamedReply, first: ResponseNode): Html {
  const id = page.ids.add(`${path}.${status}`);
  const { description, headers = {}, content = {} } = reply;
  const schemas = new Set(Object.values(content).map(({ schema }) => schema));
  const types = [...schemas].flatMap((schema) => (schema === undefined ? [] : [renderType(page, schema)]));
  const codes = codesOf(page, reply).map((code) => html`<a href="#${page.targets.get(code)}"><code>${code}</code></a>`);
  const names = Object.keys(headers).filter((name) => reply === first || !Object.hasOwn(first.headers ?? {}, name));
  const links = names.map((name) => html`<a href="#${addHeader(page, name, headers[name] as HeaderNode)}">${name}</a>`);
  return html`<dt id="${id}"><a href="#${id}"><code>${status}</code></a></dt>
<dd>${page.toProse(description)}<p>${codes.length > 0 ? join(codes, ', ') : join(types, ' or ')}</p>
${links.length > 0 && html`<p>Headers: ${join(links, ', ')}</p>`}</dd>
`;
}

/** Adds a header to the list that the page explains at its end, and returns its id. */
function addHeader({ headers, ids, follow }: PageContext, name: string, node: HeaderNode): string {
  const key = name.toLowerCase();
  const header = headers.get(key) ?? { id: ids.add(`header-${name}`), name, nodes: [] };
  headers.set(key, header);
  const target = follow(node);
  if (!header.nodes.some(({ description }) => description === target.description)) header.nodes.push(target);
  return header.id;
}
