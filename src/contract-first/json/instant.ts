/** Checks dates, and converts date-times to UTC (RFC 3339, section 5.6). */
import { fullFormats } from 'ajv-formats/dist/formats.js';

type Check = { validate: (text: string) => boolean };

/** True if the text is a date that the calendar contains. `Date` does not check: it turns 30 February into 2 March. */
export const { validate: isDate } = fullFormats.date as Check;

/** True if the text is a date-time of the calendar. A leap second must be 23:59:60 in UTC. */
const { validate: isDateTime } = fullFormats['date-time'] as Check;

/** Captures the date, the time without its seconds, the seconds, their fraction, and the offset. */
const DATE_TIME = /^(.{10})[Tt ](.{6})(\d\d)(\.\d+)?(?:[Zz]|([+-]\d\d):?(\d\d))$/;

const LENGTH = '2026-01-01T00:00:00.000Z'.length;

/**
 * Converts a date-time to UTC, to the millisecond, so that texts sort by time: `2026-01-01T00:00:00.000Z`. Digits below
 * the millisecond are dropped, and a leap second becomes the last millisecond of its minute. Returns undefined for a
 * text that is not a date-time, and for years outside 0000 to 9999 in UTC.
 */
export function toInstant(text: string): string | undefined {
  const parts = isDateTime(text) && DATE_TIME.exec(text);
  if (!parts) return undefined;
  const [, date, minute, second, fraction = '', hours, minutes] = parts;
  // `Date` gets the one spelling that V8 reads correctly. For example, with a space in place of the `T` it reads the
  // year 0001 as 2001.
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const seconds = second === '60' ? '59.999' : `${second}${fraction}`;
  const instant: string | null = new Date(`${date}T${minute}${seconds}${offset}`).toJSON();
  return instant?.length === LENGTH ? instant : undefined;
}
