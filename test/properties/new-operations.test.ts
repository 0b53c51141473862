import t from 'tap';
import { findFailure, NEW_IDS, propertiesOf, startGrown } from './new-operations.ts';

/** The number of runs of each property; in `npm run test:deep` ten. */
const RUNS = process.env.RUNS ? 10 : 1;

t.test('the property tests check every keyword of a new operation without new test code', async (t) => {
  const properties = propertiesOf(await startGrown(t));
  for (const id of NEW_IDS) t.equal(await findFailure(properties, id, RUNS), undefined);
  const names = properties.map(({ name }) => name);
  const refused: Record<string, string[]> = {
    arrangeShelf: [
      'path.code pattern, query.on required, query.tilt exclusiveMaximum, query.unit const',
      'query.sides required, query.sides minItems, query.sides uniqueItems, query.sides items maxLength',
      'query.boxes maxItems, query.boxes items type, query.boxes repeated, header.X-Days items format',
      'header.If-Match required, header.If-Match pattern, header.If-Match repeated',
      'header.X-Revision minimum, header.X-Reason maxLength, header.X-Quiet type',
      'body.boxes.items.size exclusiveMinimum, body.boxes minItems',
    ],
    'change-shelf as application/json': ['body.size required'],
    'change-shelf as application/merge-patch+json': ['body.size minimum'],
    greet: ['body minLength'],
    'addPicture as image/png': ['body x-max-bytes, body compressed'],
    'addPicture as multipart/form-data': [
      'body.petId minimum, body.picture required, body.picture repeated, body.tags items pattern',
      'body unknown field',
    ],
    packBox: [
      'body.id readOnly, body.inside.items.mail format, body.content.oneOf.0.radius minimum',
      'body.content.oneOf.1.kind enum, body.content.oneOf.1.parts.items.oneOf.0.radius required',
      'body.owner type, body.owner minLength, body.color enum, body.mail format, body.counts.* maximum',
      'body.size.oneOf.0 minimum, body.maker.anyOf.0.name maxLength',
    ],
    sendParcel: [
      'body.label minLength, body.label maxLength, body.weight required, body.color not',
      'body.marks minProperties, body.measures minProperties, body.then.phone required',
      'body.then.weight maximum, body.else.note required, body.else.note maxLength, body not',
    ],
  };
  for (const [name, rules] of Object.entries(refused))
    for (const rule of rules.join(', ').split(', '))
      t.ok(names.includes(`${name} refuses ${rule}`), `${name} refuses ${rule}`);
  t.ok(names.includes('arrangeShelf accepts what the contract allows'));
  t.ok(names.includes('arrangeShelf answers 401 without a valid key'));
  t.notOk(names.includes('greet answers 401 without a valid key'));
});

t.test('a 204 reply has no Content-Type header', async (t) => {
  const { request } = await startGrown(t);
  const { status, text, headers } = await request('/v1/shelves/A/boxes', { method: 'DELETE' });
  t.strictSame({ status, text }, { status: 204, text: '' });
  t.strictSame(Object.keys(headers).sort(), [
    ...['cache-control', 'connection', 'content-security-policy', 'date', 'keep-alive', 'x-content-type-options'],
    'x-request-id',
  ]);
});
