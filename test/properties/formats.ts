/** Strings of the formats that JSON Schema names, and near misses of them. */
import fc, { type Arbitrary } from 'fast-check';
import { noWayToBreak } from './keywords.ts';
import type { Json } from './operations.ts';

interface Format {
  /** Made when it is asked for: some take a second. */
  valid(): Arbitrary<string>;
  nearMisses: string[];
}

const DATES = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());

const FORMATS = new Map<string, Format>([
  [
    'date',
    {
      valid: () => DATES.map((text) => text.slice(0, 10)),
      nearMisses: ['2026-02-30', '2026-13-01', '2026-1-1', '26-01-01', '2026-01-01T00:00:00Z', 'today'],
    },
  ],
  [
    'date-time',
    {
      valid: () => DATES,
      nearMisses: ['2026-01-01', '2026-01-01T00:00:00', '2026-01-01T25:00:00Z', '2026-02-30T00:00:00Z'],
    },
  ],
  [
    'email',
    {
      valid: () => fc.emailAddress(),
      nearMisses: ['a', 'a@', '@a.example', 'a b@c.example', 'a@b@c.example', 'a@b..example'],
    },
  ],
  [
    'uri',
    {
      valid: () => fc.webUrl({ withQueryParameters: true }),
      nearMisses: ['a', '/a', '//a.example', 'http://a b', 'http://[', ':'],
    },
  ],
  [
    'decimal',
    {
      valid: () => fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toFixed(2)),
      nearMisses: [],
    },
  ],
  ['uuid', { valid: () => fc.uuid(), nearMisses: ['0-0-0-0-0', 'g0000000-0000-4000-8000-000000000000', '{}'] }],
]);

export function formatted(schema: Json): Arbitrary<string> {
  return formatOf(schema).valid();
}

/** Nothing where the format only says what a text means. */
export function misformatted(schema: Json): Arbitrary<string> | undefined {
  const { valid, nearMisses } = formatOf(schema);
  if (nearMisses.length === 0) return undefined;
  const open = ['email', 'uri'].includes(schema.format);
  const changed = valid().chain((text) =>
    fc.constantFrom(` ${text}`, `${text}\n`, ...(open ? [] : [`${text}0`, text.slice(1)])),
  );
  return fc.oneof(fc.constantFrom('', ...nearMisses), changed);
}

function formatOf({ format }: Json): Format {
  const known = FORMATS.get(format);
  if (!known) throw noWayToBreak(`format ${format} of a string`, 'formats.ts');
  return known;
}
