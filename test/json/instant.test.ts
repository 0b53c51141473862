import t from 'tap';
import { toInstant } from '../../src/contract-first/json/instant.ts';
import { build, problemsOf } from '../engine/requests/built-check.ts';

t.test('RFC 3339 times with any offset are stored in UTC, cut to milliseconds', (t) => {
  const instants = {
    '2026-01-01T00:00:00Z': '2026-01-01T00:00:00.000Z',
    '2026-01-01t00:00:00.1z': '2026-01-01T00:00:00.100Z',
    '2026-01-01T05:29:59.9999+05:30': '2025-12-31T23:59:59.999Z',
    '2026-01-01 00:00:00.123456789-0030': '2026-01-01T00:30:00.123Z',
    '0001-01-01t00:00:00Z': '0001-01-01T00:00:00.000Z',
    '0049-01-01 00:00:00Z': '0049-01-01T00:00:00.000Z',
    '0000-01-01T00:00:00Z': '0000-01-01T00:00:00.000Z',
    '0000-12-31T23:00:00-23:59': '0001-01-01T22:59:00.000Z',
    '9999-12-31T23:59:59.999+00:01': '9999-12-31T23:58:59.999Z',
    '2024-02-29T00:00:00Z': '2024-02-29T00:00:00.000Z',
    '2016-12-31T23:59:60Z': '2016-12-31T23:59:59.999Z',
    '2016-12-31 23:59:60Z': '2016-12-31T23:59:59.999Z',
    '2017-01-01t05:29:60.5+05:30': '2016-12-31T23:59:59.999Z',
  };
  for (const [text, instant] of Object.entries(instants)) t.equal(toInstant(text), instant, text);
  t.end();
});

t.test('a request with an invalid time, or one that no store can keep, is answered with 400', (t) => {
  const none = [
    ...[
      '',
      'x',
      '2026-01-01',
      '00:00:00Z',
      '2026-01-01T00:00:00',
      '2026-01-01T00:00:00+05',
      '2026-01-01T00:00:00+05:3',
    ],
    ...['0000-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00', '+010000-01-01T00:00:00Z', '2026-02-30T00:00:00Z'],
    ...['2026-01-01T24:00:00Z', '2026-01-01T23:89:60+00:30', '2026-01-01T24:59:60+01:00', '2026-01-01T12:59:60Z'],
    ...['2026-01-01\n00:00:00Z', '2026-01-01\u00a000:00:00Z', '2026-01-01T00:00:00Z\n', ' 2026-01-01T00:00:00Z'],
    ...['2026-01-01T00:00:00+24:00', '2026-01-01T00:00:00.Z', '২026-01-01T00:00:00Z'],
  ];
  const time = { type: 'string', format: 'date-time' };
  const check = build({ at: time }, { type: 'object', properties: { at: time } });
  for (const text of none) {
    t.equal(toInstant(text), undefined, text);
    t.strictSame(problemsOf(check({ query: { at: text }, body: { at: text } })), [
      'query.at must match format "date-time"',
      'body.at must match format "date-time"',
    ]);
  }
  t.end();
});
