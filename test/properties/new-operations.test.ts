import t from 'tap';
import { findFailure, NEW_IDS, propertiesOf, startGrown } from './new-operations.ts';

/** Of each property: ten in `npm run test:deep`. */
const RUNS = process.env.RUNS ? 10 : 1;

t.test('an operation that is new in the contract is covered, every keyword of it, with no new test code', async (t) => {
  const properties = propertiesOf(await startGrown(t));
  for (const id of NEW_IDS) t.equal(await findFailure(properties, id, RUNS), undefined);
  const names = properties.map(({ name }) => name);
  for (const rule of [
    'arrangeShelf accepts what the contract allows',
    'arrangeShelf refuses path.code pattern',
    'arrangeShelf refuses query.on required',
    'arrangeShelf refuses query.tilt exclusiveMaximum',
    'arrangeShelf refuses query.unit const',
    'arrangeShelf refuses query.sides required',
    'arrangeShelf refuses query.sides minItems',
    'arrangeShelf refuses query.sides uniqueItems',
    'arrangeShelf refuses query.sides items maxLength',
    'arrangeShelf refuses query.boxes maxItems',
    'arrangeShelf refuses query.boxes items type',
    'arrangeShelf refuses query.boxes repeated',
    'arrangeShelf refuses header.X-Days items format',
    'arrangeShelf refuses header.If-Match required',
    'arrangeShelf refuses header.If-Match pattern',
    'arrangeShelf refuses header.If-Match repeated',
    'arrangeShelf refuses header.X-Revision minimum',
    'arrangeShelf refuses header.X-Reason maxLength',
    'arrangeShelf refuses header.X-Quiet type',
    'arrangeShelf refuses body.boxes.items.size exclusiveMinimum',
    'arrangeShelf refuses body.boxes minItems',
    'change-shelf as application/json refuses body.size required',
    'change-shelf as application/merge-patch+json refuses body.size minimum',
    'arrangeShelf asks for a key',
    'greet refuses body minLength',
    'addPicture as image/png refuses body x-max-bytes',
    'addPicture as image/png refuses body compressed',
    'addPicture as multipart/form-data refuses body.petId minimum',
    'addPicture as multipart/form-data refuses body.picture required',
    'addPicture as multipart/form-data refuses body.picture repeated',
    'addPicture as multipart/form-data refuses body.tags items pattern',
    'addPicture as multipart/form-data refuses body unknown field',
    'packBox refuses body.id readOnly',
    'packBox refuses body.inside.items.mail format',
    'packBox refuses body.content.oneOf.0.radius minimum',
    'packBox refuses body.content.oneOf.1.kind enum',
    'packBox refuses body.content.oneOf.1.parts.items.oneOf.0.radius required',
    'packBox refuses body.owner type',
    'packBox refuses body.owner minLength',
    'packBox refuses body.color enum',
    'packBox refuses body.mail format',
    'packBox refuses body.counts.* maximum',
    'packBox refuses body.size.oneOf.0 minimum',
    'packBox refuses body.maker.anyOf.0.name maxLength',
    'sendParcel refuses body.label minLength',
    'sendParcel refuses body.label maxLength',
    'sendParcel refuses body.weight required',
    'sendParcel refuses body.color not',
    'sendParcel refuses body.marks minProperties',
    'sendParcel refuses body.measures minProperties',
    'sendParcel refuses body.then.phone required',
    'sendParcel refuses body.then.weight maximum',
    'sendParcel refuses body.else.note required',
    'sendParcel refuses body.else.note maxLength',
    'sendParcel refuses body not',
  ]) {
    t.ok(names.includes(rule), rule);
  }
  t.notOk(names.includes('greet asks for a key'));
});

t.test('an answer without a body is sent without a body and a content type', async (t) => {
  const { request } = await startGrown(t);
  const { status, text, headers } = await request('/v1/shelves/A/boxes', { method: 'DELETE' });
  t.strictSame({ status, text }, { status: 204, text: '' });
  t.strictSame(Object.keys(headers).sort(), [
    ...['cache-control', 'connection', 'content-security-policy', 'date', 'keep-alive', 'x-content-type-options'],
    'x-request-id',
  ]);
});
