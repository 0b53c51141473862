/** Parses rate limits: `100/s`, or `none` for no limit. */
import type { Rate } from './store.ts';

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

export const RATE_PATTERN = '^([1-9][0-9]{0,8})/([smhd])$';
export const RATE_FORM = 'a number of requests per s, m, h or d, such as 100/s, or none';

/** Undefined for `none`. @throws Error that says what a rate is */
export function parseRate(text: string): Rate | undefined {
  if (text === 'none') return undefined;
  const [, limit, unit = ''] = new RegExp(RATE_PATTERN).exec(text) ?? [];
  if (limit === undefined) throw new Error(`A rate is ${RATE_FORM}, not ${text}`);
  return { limit: Number(limit), window: SECONDS[unit] as number };
}
