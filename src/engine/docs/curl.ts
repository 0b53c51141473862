/** A curl command for an operation, to copy; the page fills in the reader's key, this server and a new Idempotency-Key. */
import { stringify } from 'lossless-json';
import type { AnyContract, Operation } from '../contract/contract.ts';
import type { Document, MediaNode, Method, OperationNode, PathItem } from '../contract/document.ts';
import { parseWithBigints } from '../contract/numbers.ts';
import { toName, withNames } from '../contract/path-names.ts';
import { isNode, keywordsOf } from '../schema/json.ts';
import { lookUp } from '../schema/references.ts';
import { Html, html } from './html.ts';

/** A placeholder, which the page replaces if it has JavaScript. */
const fill = (name: string, text: string) => html`<span data-fill="${name}">${text}</span>`;

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
    const once = parameters.find((parameter) => parameter['x-kept-hours']);
    const [type, media] = Object.entries(follow(source.requestBody)?.content ?? {})[0] ?? [];
    const body = media && exampleOf(media);
    const url = path.replace(/\{(\w+)\}/g, (whole, field) => {
      const parameter = parameters.find((one) => toName(one.name) === field);
      return String(
        (parameter && (exampleOf(parameter) ?? keywordsOf(follow(parameter.schema)).examples?.[0])) ?? whole,
      );
    });
    const place = security[0]?.place;
    const key = fill('key', '<API_KEY>');
    const lines = [
      html`curl -i${!['GET', 'POST'].includes(method) && ` -X ${method}`}`,
      place?.in === 'bearer' && html`-H 'Authorization: Bearer ${key}'`,
      place?.in === 'header' && html`-H '${place.name}: ${key}'`,
      once && html`-H '${once.name}: ${fill('once', 'a new UUID')}'`,
      body !== undefined && html`-H 'Content-Type: ${type}'`,
      body !== undefined && html`-d '${String(stringify(body)).replaceAll("'", `'\\''`)}'`,
      html`'${fill('url', 'https://SERVER')}${prefix}${url}'`,
    ].filter((line) => line instanceof Html);
    return html`<div class="request"><pre id="curl-${name}" tabindex="0">${join(lines)}</pre>
<button type="button" data-copy="#curl-${name}">Copy</button></div>`;
  };
}

const join = (lines: Html[]) => new Html(lines.map(({ text }) => text).join(' \\\n  '));
