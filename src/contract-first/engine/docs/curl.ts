/** A curl command for an operation, to copy; the page fills in the reader's key, this server and a new Idempotency-Key. */
import { stringify } from 'lossless-json';
import { toShellWord } from '../../json/literals.ts';
import type { AnyContract, Operation } from '../contract/contract.ts';
import {
  type Document,
  isKey,
  type MediaNode,
  type Method,
  type OperationNode,
  type PathItem,
} from '../contract/document.ts';
import { toMediaType } from '../contract/media-types.ts';
import { parseWithBigints } from '../contract/numbers.ts';
import { encodePath, toName, withNames } from '../contract/path-names.ts';
import { isNode, keywordsOf } from '../schema/json.ts';
import { lookUp } from '../schema/pointers.ts';
import { Html, html, toText } from './html.ts';

/** The page fills these in if it has JavaScript. Each is between two U+0000, which no word of a command has. */
const FILLED: Record<string, string> = { key: '<API_KEY>', once: 'a new UUID', url: 'https://SERVER' };
const [KEY, ONCE, ORIGIN] = Object.keys(FILLED).map((name) => `\0${name}\0`);

const withPlaceholders = (command: string) =>
  html`${command}`.text.replace(/\0(\w+)\0/g, (_, name) => html`<span data-fill="${name}">${FILLED[name]}</span>`.text);

/** Parses the contract again, with bigint: its examples may have larger numbers than JavaScript's. */
export function buildToCurl({ json, prefix }: AnyContract): (operation: Operation, name?: string) => Html {
  const document = parseWithBigints(json) as Partial<Document>;
  const { paths = {} } = document;
  const items = new Map(Object.entries(paths).map(([path, item]) => [withNames(path), item]));

  function follow<Kind>(node: Kind): Kind;
  function follow(node: unknown): unknown {
    return isNode(node) && typeof node.$ref === 'string' ? follow(lookUp(document, node.$ref)) : node;
  }

  function exampleOf({ example, examples = {} }: Pick<MediaNode, 'example' | 'examples'>): unknown {
    return example ?? follow(Object.values(examples)[0])?.value;
  }

  return ({ id, method, path, security }, name = id) => {
    const item = follow(items.get(path)) as PathItem;
    const source = item[method.toLowerCase() as Method] as OperationNode;
    const parameters = [...(item.parameters ?? []), ...(source.parameters ?? [])].map(follow);
    const once = parameters.find(isKey);
    const [type = '', media] = Object.entries(follow(source.requestBody)?.content ?? {})[0] ?? [];
    const body = media && exampleOf(media);
    const url = encodePath(path).replace(/\{(\w+)\}/g, (whole, field) => {
      const parameter = parameters.find((one) => toName(one.name) === field);
      const example = parameter && (exampleOf(parameter) ?? keywordsOf(follow(parameter.schema)).examples?.[0]);
      return example === undefined ? whole : [example].flat().map(toPathPart).join(',');
    });
    const place = security[0]?.place;
    const lines = [
      `curl -i${['GET', 'POST'].includes(method) ? '' : ` -X ${method}`}`,
      place?.in === 'bearer' && `-H ${toShellWord(`Authorization: Bearer ${KEY}`)}`,
      place?.in === 'header' && `-H ${toShellWord(`${place.name}: ${KEY}`)}`,
      once && `-H ${toShellWord(`${once.name}: ${ONCE}`)}`,
      body !== undefined && `-H ${toShellWord(`Content-Type: ${toMediaType(type)}`)}`,
      body !== undefined && `-d ${toShellWord(stringify(body) as string)}`,
      toShellWord(`${ORIGIN}${prefix}${url}`),
    ].filter(Boolean);
    const command = new Html(withPlaceholders(lines.join(' \\\n  ')));
    return html`<div class="request"><pre id="curl-${name}" tabindex="0">${command}</pre>
<button type="button" data-copy="#curl-${name}">Copy</button></div>`;
  };
}

const toPathPart = (value: unknown) => encodeURIComponent(toText(value).toWellFormed());
