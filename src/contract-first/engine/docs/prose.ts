/** Renders the contract's Markdown. HTML in it stays text. */
import MarkdownIt from 'markdown-it';
import { Html } from './html.ts';

/** The link targets of names in code: error codes, and operations by id or as `GET /items`. */
export type Targets = ReadonlyMap<string, string>;

const markdown = new MarkdownIt({ html: false });

/** Renders text without paragraphs. */
export const toInline = (text: string): Html => new Html(markdown.renderInline(text));

export function toProse(text: string | undefined, targets: Targets = new Map()): Html | undefined {
  if (!text) return undefined;
  const linked = markdown
    .render(text)
    .replace(/<tr>\n<td><code>(\w+)<\/code>/g, '<tr id="error-$1">\n<td><code>$1</code>')
    .replaceAll('<table>', '<div class="scrolled" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replace(/<code>([^<]*)<\/code>/g, (code, name) => {
      const id = targets.get(name);
      return id ? `<a href="#${id}">${code}</a>` : code;
    });
  return new Html(linked);
}

/** Splits a text at its second-level headings; the first part has no title. */
export function toTopics(text = ''): { title: string; id: string; text: string }[] {
  return text.split(/^## /m).map((part, index) => {
    const title = index === 0 ? '' : (part.split('\n', 1)[0] as string);
    const id = `about-${title.toLowerCase().replace(/\W+/g, '-')}`;
    return { title, id, text: part.slice(title.length) };
  });
}

/** The error codes that a table of the text explains. `toProse` gives their rows an id. */
export const toCodes = (text = ''): string[] =>
  [...text.matchAll(/^\| *`(\w+)` *\|/gm)].map(([, code]) => code as string);
