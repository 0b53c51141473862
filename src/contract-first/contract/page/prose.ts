/** Renders the contract's Markdown and values as HTML. HTML that the contract contains is escaped. */
import { stringify } from 'lossless-json';
import MarkdownIt from 'markdown-it';
import { Html } from '../../engine/docs/html.ts';
import { isNode } from '../../engine/schema/json.ts';

/**
 * The ids to link to, by text. If one of these texts is written as code, it becomes a link. The texts are error codes,
 * ids of operations, and operations such as `GET /items`.
 */
export type Targets = ReadonlyMap<string, string>;

export type Prose = ReturnType<typeof buildProse>;

const markdown = new MarkdownIt({ html: false });
/**
 * Renders only the alternative text of an image, because the page's Content-Security-Policy does not allow files of
 * other sites.
 */
markdown.renderer.rules.image = (tokens, index) => markdown.utils.escapeHtml(String(tokens[index]?.content));

export function buildProse(targets: Targets) {
  /** Renders code as a link, unless it is inside another link. */
  const toLink = (whole: string, name: string): string => {
    const id = targets.get(name);
    return id ? `<a href="#${id}">${whole}</a>` : whole;
  };
  return {
    /** Renders Markdown without paragraphs, and without links for names of operations and error codes. */
    toInline: (text: string) => new Html(markdown.renderInline(text)),
    toProse(text: string | undefined): Html | undefined {
      if (!text) return undefined;
      // The page's Content-Security-Policy does not allow styles in attributes.
      const rendered = markdown.render(text).replace(/(?<=<t[hd]) style="[^"]*"/g, '');
      const rows = rendered.replace(/<tr>\n<td>(?=<code>(\w+)<\/code>)/g, toRow(targets));
      return new Html(rows.replace(/<a [\s\S]*?<\/a>|<code>([^<]*)<\/code>/g, toLink));
    },
  };
}

const toRow = (targets: Targets) => (row: string, code: string) =>
  targets.has(code) ? `<tr id="${targets.get(code)}">\n<td>` : row;

/** Splits a Markdown text at its second-level headings. The text before the first heading gets an empty title. */
export function splitTopics(text = ''): { title: string; text: string }[] {
  return text.split(/^## /m).map((part, index) => {
    const title = index === 0 ? '' : (part.split('\n', 1)[0] as string);
    return { title, text: part.slice(title.length) };
  });
}

/** Finds the error codes that a table in the text explains, in its first column. */
export const errorCodesIn = (text = ''): string[] => [
  ...new Set([...text.matchAll(/^\| *`(\w+)` *\|/gm)].map(([, code]) => code as string)),
];

/**
 * Escapes a text that is put between tags, such as JSON. Does not escape quotation marks, because they are harmless
 * there.
 */
export const toContent = (text: string): Html =>
  new Html(text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;'));

/**
 * Converts any value of a contract to text. Does not call `toString` of an object, because it may be a field of the
 * contract.
 */
export const toText = (value: unknown): string => (isNode(value) ? (stringify(value) as string) : String(value));
