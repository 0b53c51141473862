/** Every edit of an operation: its name, parameters, body, responses with their headers, security and deprecation. */
import type { Json } from '../../src/contract/contract.ts';
import { type Edit, type Path, put, rename, take } from './edit.ts';
import { numberEdits, schemaEdits } from './schema-edits.ts';

const DAY = 86_400_000;

export function* operationEdits(place: Path, operation: Json, ids: string[]): Generator<Edit> {
  const { operationId, parameters = [], requestBody, responses } = operation;
  const otherIds = ids.filter((id) => id !== operationId);
  yield put(place, 'operationId', `${operationId}X`, 'operationId renamed');
  yield take(place, 'operationId', 'operationId removed');
  yield put(place, 'operationId', otherIds[0], 'operationId given twice');
  yield* securityEdits(place, operation);
  yield* deprecationEdits(place, operation, otherIds);
  yield* parameterListEdits(place, parameters);
  for (const [index, parameter] of parameters.entries()) {
    yield* parameterEdits([...place, 'parameters', index], parameter);
  }
  if (requestBody) {
    yield take(place, 'requestBody', 'request body removed');
    yield* bodyEdits([...place, 'requestBody'], requestBody);
  }
  yield* responseListEdits([...place, 'responses'], responses);
  for (const [status, response] of Object.entries(responses)) {
    yield* responseEdits([...place, 'responses', status], response);
  }
}

export function* securityEdits(place: Path, { security }: Json): Generator<Edit> {
  if (security) yield take(place, 'security', 'security removed');
  yield put(place, 'security', [], 'security emptied');
  yield put(place, 'security', [{}], 'security made optional');
  yield put(place, 'security', [{ otherAuth: [] }], 'security by an unknown scheme');
  yield put(place, 'security', [{ bearerAuth: ['admin'] }], 'security with a scope');
}

function* deprecationEdits(place: Path, operation: Json, otherIds: string[]): Generator<Edit> {
  if (!operation.deprecated) {
    yield put(place, 'deprecated', true, 'deprecation added');
    return;
  }
  yield take(place, 'deprecated', 'deprecation removed');
  for (const key of ['x-deprecated-at', 'x-sunset']) {
    const nextDay = new Date(Date.parse(operation[key]) + DAY).toISOString().slice(0, 10);
    yield put(place, key, nextDay, `${key} moved`);
    yield put(place, key, 'soon', `${key} made no date`);
    yield take(place, key, `${key} removed`);
  }
  yield put(place, 'x-sunset', '2020-01-01', 'x-sunset over');
  const successors = otherIds.filter((id) => id !== operation['x-successor']);
  for (const id of successors) yield put(place, 'x-successor', id, 'x-successor changed');
  yield take(place, 'x-successor', 'x-successor removed');
}

function* parameterListEdits(place: Path, parameters: Json[]): Generator<Edit> {
  const list = [...place, 'parameters'];
  for (const [index, { name }] of parameters.entries()) {
    yield { ...take(list, index, 'parameter removed'), detail: name };
  }
  for (const required of [false, true]) {
    const extra = { name: 'extra', in: 'query', required, description: 'One more.', schema: { type: 'string' } };
    const words = required ? 'required parameter added' : 'parameter added';
    yield { ...put(place, 'parameters', [...parameters, extra], words), detail: 'extra' };
  }
}

function* parameterEdits(place: Path, parameter: Json): Generator<Edit> {
  const { name, schema, in: where } = parameter;
  yield put(place, 'name', `${name}X`, 'parameter renamed');
  for (const other of ['path', 'query', 'header', 'cookie']) {
    if (other !== where) yield put(place, 'in', other, 'parameter put elsewhere');
  }
  yield requiredEdit(place, 'parameter', parameter);
  if (parameter['x-opaque']) yield take(place, 'x-opaque', 'x-opaque removed');
  yield* exampleEdits(place, parameter);
  yield* schemaEdits([...place, 'schema'], schema);
}

function* bodyEdits(place: Path, body: Json): Generator<Edit> {
  yield requiredEdit(place, 'body', body);
  const most = body['x-max-bytes'];
  if (most) yield* numberEdits(place, 'x-max-bytes', most);
  else yield put(place, 'x-max-bytes', 1000, 'x-max-bytes added');
  yield* contentEdits(place, body);
}

function* responseListEdits(place: Path, responses: Json): Generator<Edit> {
  for (const status of Object.keys(responses)) {
    const next = /^\d+$/.test(status) ? String(Number(status) + 1) : '5XX';
    yield take(place, status, 'response removed');
    if (!responses[next]) yield rename(place, status, next, 'status changed');
  }
  yield put(place, '418', { description: 'One more.' }, 'response added');
}

export function* responseEdits(place: Path, response: Json): Generator<Edit> {
  if (response.$ref) return;
  const headers = [...place, 'headers'];
  for (const [name, header] of Object.entries(response.headers ?? {})) {
    yield take(headers, name, 'header removed');
    yield rename(headers, name, `${name}-X`, 'header renamed');
    yield* headerEdits([...headers, name], header);
  }
  for (const required of [false, true]) {
    const extra = { description: 'One more.', required, schema: { type: 'string' } };
    yield put(headers, 'X-Extra', extra, required ? 'required header added' : 'header added');
  }
  for (const [name, link] of Object.entries<Json>(response.links ?? {})) {
    yield put([...place, 'links', name], 'operationId', `${link.operationId}X`, 'link led astray');
  }
  yield take(place, 'content', 'body of the response removed');
  yield* contentEdits(place, response);
}

export function* headerEdits(place: Path, header: Json): Generator<Edit> {
  if (header.$ref) return;
  yield requiredEdit(place, 'header', header);
  yield* exampleEdits(place, header);
  yield* schemaEdits([...place, 'schema'], header.schema);
}

function requiredEdit(place: Path, what: string, { required = false }: Json): Edit {
  return put(place, 'required', !required, `${what} made ${required ? 'optional' : 'required'}`);
}

function* contentEdits(place: Path, { content }: Json): Generator<Edit> {
  for (const [type, media] of Object.entries<Json>(content)) {
    const at = [...place, 'content', type];
    yield rename([...place, 'content'], type, 'text/plain', 'media type changed');
    yield put([...place, 'content'], 'text/plain', { schema: { type: 'string' } }, 'media type added');
    yield take(at, 'schema', 'schema removed');
    yield* exampleEdits(at, media);
    yield* schemaEdits([...at, 'schema'], media.schema);
  }
}

/** Examples that fit no schema. */
function* exampleEdits(place: Path, node: Json): Generator<Edit> {
  if (node.example !== undefined) yield put(place, 'example', { broken: true }, 'example broken');
  for (const [name, example] of Object.entries<Json>(node.examples ?? {})) {
    if (!example.$ref) yield put([...place, 'examples', name], 'value', { broken: true }, 'example broken');
  }
}
