/** Renders the contract's Markdown. HTML in it stays text. */
import MarkdownIt from 'markdown-it';
import { Html } from '../../engine/docs/html.ts';

/** The link targets of names in code: error codes, and operations by id or as `GET /items`. */
export type Targets = ReadonlyMap<string, string>;

export interface Prose {
  toProse(text: string | undefined): Html | undefined;
  /** Without paragraphs, and without links of names. */
  toInline(text: string): Html;
}

const markdown = new MarkdownIt({ html: false });

export function buildProse(targets: Targets): Prose {
  /** In a link, code is no other link. */
  const toLink = (whole: string, name: string): string => {
    const id = targets.get(name);
    return id ? `<a href="#${id}">${whole}</a>` : whole;
  };
  return {
    toInline: (text) => new Html(markdown.renderInline(text)),
    toProse(text) {
      if (!text) return undefined;
      // The page's policy lets no style stand in an attribute.
      const rendered = markdown.render(text).replace(/(?<=<t[hd]) style="[^"]*"/g, '');
      const rows = rendered.replace(/<tr>\n<td>(?=<code>(\w+)<\/code>)/g, toRow(targets));
      return new Html(rows.replace(/<a [\s\S]*?<\/a>|<code>([^<]*)<\/code>/g, toLink));
    },
  };
}

const toRow = (targets: Targets) => (row: string, code: string) =>
  targets.has(code) ? `<tr id="${targets.get(code)}">\n<td>` : row;

/** Splits a text at its second-level headings; the first part has no title. */
export function toTopics(text = ''): { title: string; text: string }[] {
  return text.split(/^## /m).map((part, index) => {
    const title = index === 0 ? '' : (part.split('\n', 1)[0] as string);
    return { title, text: part.slice(title.length) };
  });
}

/** The error codes that a table of the text explains. */
export const toCodes = (text = ''): string[] => [
  ...new Set([...text.matchAll(/^\| *`(\w+)` *\|/gm)].map(([, code]) => code as string)),
];
