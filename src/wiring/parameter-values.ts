/** From the text of a parameter to the value that its schema speaks of; text that is none stays text, and is refused. */
import type { Json } from '../contract/contract.ts';
import { isInt64Schema, parseInt64 } from '../json/int64.ts';

export function toConvert(schema: Json): (text: string) => unknown {
  if (isInt64Schema(schema)) return (text) => parseInt64(text) ?? text;
  if (schema.type === 'integer') return (text) => safeNumber(parseInt64(text)) ?? text;
  if (schema.type === 'number') return (text) => (/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text) ? Number(text) : text);
  if (schema.type === 'boolean') return (text) => text === 'true' || (text === 'false' ? false : text);
  return (text) => text;
}

function safeNumber(value: bigint | undefined): number | undefined {
  return Number.isSafeInteger(Number(value ?? Number.NaN)) ? Number(value) : undefined;
}
