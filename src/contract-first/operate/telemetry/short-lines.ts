/** Converts lines of the log to short lines for people: `12:30:01 GET /v1/books 200 1.5 ms`. */
import { toPrintable } from '../../json/literals.ts';

/** The words for the levels of pino's log lines. Lines of level 30 (info), the usual level, are without a word. */
const LEVELS: Record<number, string> = { 10: 'trace', 20: 'debug', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' };

/** Converts a text of one or more complete lines of JSON. */
export const toShortLines = (lines: string): string => lines.replace(/^.+$/gm, toShortLine);

function toShortLine(line: string): string {
  const { level, time, msg, pid: _pid, hostname: _hostname, err, ...fields } = JSON.parse(line);
  const { method, url, status, ms, ...others } = fields;
  const start = [new Date(time).toTimeString().slice(0, 8), LEVELS[level]];
  const isRequest = method !== undefined && ms !== undefined;
  const words = isRequest
    ? [method, url, status ?? msg, `${Math.round(ms * 10) / 10} ms`, others.cause]
    : [msg, Object.keys(fields).length > 0 && JSON.stringify(fields), err?.stack];
  return [...start, ...words]
    .filter(Boolean)
    .map((word) => String(word).split('\n').map(toPrintable).join('\n'))
    .join(' ');
}
