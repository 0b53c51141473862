/** Dates, and date-times as instants (RFC 3339, section 5.6). */
import { fullFormats } from 'ajv-formats/dist/formats.js';

type Check = { validate: (text: string) => boolean };

/** Whether the calendar has this day: `Date` alone turns 30 February into 2 March. */
export const { validate: isDate } = fullFormats.date as Check;

/** The check of dates and leap seconds. */
const { validate: isDateTime } = fullFormats['date-time'] as Check;

/** The date, the time without its seconds, the seconds, their fraction, and the offset. */
const DATE_TIME = /^(.{10})[Tt ](.{6})(\d\d)(\.\d+)?(?:[Zz]|([+-]\d\d):?(\d\d))$/;

const LENGTH = '2026-01-01T00:00:00.000Z'.length;

/**
 * Converts a time to UTC, to the millisecond, so that texts sort by time: `2026-01-01T00:00:00.000Z`. Further digits are dropped, and a
 * leap second is the last millisecond of its minute. Undefined for a text that is not a time, and for years in UTC outside 0000 to 9999.
 */
export function toInstant(text: string): string | undefined {
  const parts = isDateTime(text) && DATE_TIME.exec(text);
  if (!parts) return undefined;
  const [, date, minute, second, fraction = '', hours, minutes] = parts;
  // V8 reads other spellings in its own way. For example, with a space in place of the `T` it reads the year 0001 as 2001.
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const seconds = second === '60' ? '59.999' : `${second}${fraction}`;
  const instant: string | null = new Date(`${date}T${minute}${seconds}${offset}`).toJSON();
  return instant?.length === LENGTH ? instant : undefined;
}
