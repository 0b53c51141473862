/**
 * Adds example programs to the guide: a loop over pages, a retry, the handling of errors, and the handling of rate
 * limits. A program is added only if the contract contains the operations and fields for it. The page's script
 * translates the programs into other languages.
 */
import type { Operation } from '../../engine/contract/contract.ts';
import { isKey } from '../../engine/contract/document.ts';
import { type Html, html } from '../../engine/docs/html.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { toShellWord } from '../../json/literals.ts';
import type { PageContext } from './operation.ts';
import { toContent } from './prose.ts';
import { sampleCurl, toCurlWords, toUrlWord } from './request.ts';

/** A program that calls an operation. The page's script finds the same program in another language by `name`. */
export interface Recipe {
  name: string;
  operation: Operation;
  text: Html;
}

/**
 * For each recipe: an expression for the titles of the topics that it belongs to, its name, and a text. If the
 * contract's guide lacks such a topic, the recipe gets its own topic with this text.
 */
const TOPICS: [title: RegExp, name: string, words: string][] = [
  [/\bpag(e|in)/i, 'Pages', 'Each page leads to the next one. Go on until there is none.'],
  [/\b(rate|quota)/i, 'Rates', 'After 429, wait as `Retry-After` says, and send the request again.'],
  [/\bretr(y|ie)|idempot/i, 'Retries', 'Send a request again with the same `Idempotency-Key`: it takes effect once.'],
  [/\b(error|failure)/i, 'Errors', 'Statuses of one class are handled alike.'],
];

interface Topic {
  title: string;
  text: string;
}

/** Adds each recipe to the topic of the guide that it belongs to, or adds a topic for it. */
export function addRecipes(
  page: PageContext,
  all: Iterable<Operation>,
  topics: Topic[],
): (Topic & { recipe?: Recipe })[] {
  const recipes = findRecipes(page, [...all]);
  const take = (name: string | undefined) => {
    const recipe = name && recipes.get(name);
    recipes.delete(name as string);
    return recipe ? { recipe } : {};
  };
  const own = topics.map((topic) => ({ ...topic, ...take(TOPICS.find(([title]) => title.test(topic.title))?.[1]) }));
  const others = TOPICS.filter(([, name]) => recipes.has(name));
  return [...own, ...others.map(([, title, text]) => ({ title, text, ...take(title) }))];
}

function findRecipes(page: PageContext, all: Operation[]): Map<string, Recipe> {
  const operations = all.filter(({ deprecation, method }) => !deprecation && method !== 'HEAD');
  const has = ({ replies }: Operation, header: RegExp) =>
    replies.some(({ status, headers }) => Object.keys(headers).some((name) => header.test(`${status} ${name}`)));
  const countErrorReplies = ({ replies }: Operation) => replies.filter(({ status }) => status.startsWith('4')).length;
  const most = Math.max(1, ...operations.map(countErrorReplies));
  const made = new Map<string, Recipe>();
  const add = (title: string, name: string, write: (one: Operation) => Html | undefined) => {
    for (const operation of operations) {
      const text = made.has(title) ? undefined : write(operation);
      if (text) made.set(title, { name, operation, text });
    }
  };
  add('Pages', 'pages', (one) =>
    one.method === 'GET' && has(one, /^2\d\d link$/i) ? toLinkedPages(page, one) : undefined,
  );
  add('Pages', 'cursors', (one) => toCursorPages(page, one));
  add('Pages', 'counted', (one) => toCountedPages(page, one));
  add('Rates', 'rates', (one) =>
    has(one, /^429 retry-after$|ratelimit/i) ? sampleCurl(page, one, '-i --retry 5') : undefined,
  );
  const retry = '-i --fail-with-body --retry 5 --retry-connrefused';
  add('Retries', 'retries', (one) => (one.parameters.some(isKey) ? sampleCurl(page, one, retry) : undefined));
  add('Errors', 'errors', (one) => (countErrorReplies(one) === most ? toCases(page, one) : undefined));
  return made;
}

function toLinkedPages(page: PageContext, operation: Operation): Html {
  const { options, url } = toCurlWords(page, operation);
  return html`url=${toUrlWord(page, url)}
while [ "$url" ]; do
  ${toContent(['curl -sS --fail-with-body -D headers.txt', ...options.slice(1)].join(' \\\n    '))} "$url" || break
  next=$(sed -n 's/^[Ll]ink: .*&lt;\\([^>]*\\)>; *rel="next".*/\\1/p' headers.txt)
  case $next in
    /*) url=$(echo "$url" | cut -d / -f 1-3)$next ;;
    *) url=$next ;;
  esac
done`;
}

/**
 * Returns the keywords of a schema and those of the subschemas in its `allOf`. Only one of them may describe the items.
 */
function partsOf(page: PageContext, schema: Schema | undefined): Keywords[] {
  const { allOf = [] } = keywordsOf(page.follow(schema));
  return [page.flat(schema), ...allOf.flatMap((part) => partsOf(page, part))];
}

/**
 * Returns the fields of the first successful reply of a GET. `all` contains the fields of the body and of the objects
 * in it. `listed` contains the names of the fields of list items.
 */
function fieldsOf(page: PageContext, { method, replies }: Operation) {
  const reply = method === 'GET' ? replies.find(({ status }) => status.startsWith('2'))?.schema : undefined;
  const inner = ({ properties = {} }: Keywords) => Object.values(properties).flatMap((one) => partsOf(page, one));
  const parts = partsOf(page, reply);
  const values = [...parts, ...parts.flatMap(inner)];
  return {
    all: values.flatMap(({ properties = {} }) => Object.entries(properties)),
    listed: values.flatMap(({ items }) => partsOf(page, items).flatMap((one) => Object.keys(one.properties ?? {}))),
  };
}

const findQuery = ({ parameters }: Operation, names: RegExp) =>
  parameters.find(({ name, in: location }) => location === 'query' && names.test(name));

const CURSORS = /^(cursor|after|starting_?after|(page|next|continuation)_?token|marker)$/i;
const NEXT_CURSORS = /^((next|end)_?)?(cursor|((page|continuation)_?)?token|marker)$|^next$/i;

/** Renders a loop over pages with the cursor of the next page in the body. */
function toCursorPages(page: PageContext, operation: Operation): Html | undefined {
  const parameter = findQuery(operation, CURSORS);
  const [field] = fieldsOf(page, operation).all.find(([name, schema]) => {
    const { type, format } = page.flat(schema);
    return NEXT_CURSORS.test(name) && [type].flat().includes('string') && format === undefined;
  }) ?? [undefined];
  if (!parameter || field === undefined) return undefined;
  const option = `\${cursor:+--data-urlencode} \${cursor:+"${parameter.name}=$cursor"}`;
  return html`cursor=
while ${sampleCurl(page, operation, `-sS --fail-with-body -G ${option}`, parameter.name)} > page.json; do
  cat page.json
  cursor=$(tr -d '\\n' &lt; page.json | sed -n 's/.*"${field}": *"\\([^"]*\\)".*/\\1/p')
  [ "$cursor" ] || break
done`;
}

/** Renders a loop over pages that the client counts by number or offset. The loop ends at a page without items. */
function toCountedPages(page: PageContext, operation: Operation): Html | undefined {
  const { parameters } = operation;
  const counter = findQuery(operation, /^(page|offset|skip)$/i);
  const [field] = fieldsOf(page, operation).listed;
  if (!counter || field === undefined) return undefined;
  const isPage = /^page$/i.test(counter.name);
  const limit = parameters.find(({ name }) => /^(limit|size|per_?page|page_?size)$/i.test(name));
  const { minimum, default: first = minimum } = page.flat(counter.schema);
  const { default: step = 20 } = page.flat(limit?.schema);
  const start = sampleCurl(page, operation, '-sS --fail-with-body', counter.name);
  return html`at=${isPage ? String(first ?? 1) : '0'}
while ${start}${toContent(`${toShellWord(`${start.text.includes('?') ? '&' : '?'}${encodeURIComponent(counter.name)}=`)}"$at" > page.json && grep -q ${toShellWord(`"${field}"`)} page.json`)}; do
  cat page.json
  at=$((at + ${isPage ? '1' : String(step)}))
done`;
}

const toCases = (page: PageContext, operation: Operation): Html =>
  html`status=$(${sampleCurl(page, operation, "-sS -o reply.json -w '%{http_code}'")})
case $status in
  2*) cat reply.json ;;
  401 | 403) echo 'Check the key:' && cat reply.json ;;
  408 | 429 | 5*) echo 'Send it again later:' && cat reply.json ;;
  *) echo 'Correct the request:' && cat reply.json ;;
esac`;
