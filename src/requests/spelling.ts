/** Each value has one spelling in a parameter: its text -> the value, or the text itself where it is none, to be refused later. */

import { isCanonical, parseInt64 } from '../json/int64.ts';
import type { Json } from '../schema/json.ts';

export type ToValue = (text: string) => unknown;

export function buildToValue({ type }: Json, isInt64: boolean): ToValue {
  if (isInt64) return (text) => parseInt64(text) ?? text;
  if (type === 'integer') return (text) => toSafeNumber(text) ?? text;
  if (type === 'number') return (text) => (/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text) ? Number(text) : text);
  if (type === 'boolean') return (text) => text === 'true' || (text === 'false' ? false : text);
  return (text) => text;
}

function toSafeNumber(text: string): number | undefined {
  const value = Number(text);
  return isCanonical(text) && Number.isSafeInteger(value) ? value : undefined;
}
