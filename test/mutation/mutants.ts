/** All meaningful edits of a contract, found by walking through it; what only people read is left out. */
import type { Json } from '../../src/contract/contract.ts';
import { editedCopy } from '../edited-contract.ts';
import { type Edit, nodeAt, type Path, put, rename, take, together, toWords } from './edit.ts';
import { headerEdits, operationEdits, responseEdits, securityEdits } from './operation-edits.ts';
import { schemaEdits } from './schema-edits.ts';

/** A contract with one edit. */
export interface Mutant {
  /** Where: `components.schemas.PetName`. */
  place: string;
  /** What was done, without its values: `maxLength raised`. */
  kind: string;
  /** `maxLength raised (maxLength: 256)` */
  edit: string;
  build(): Json;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

export function mutantsOf(contract: Json): Mutant[] {
  return [...contractEdits(contract)].map(({ place, words, detail, apply }) => ({
    place: toWords(contract, place),
    kind: words,
    edit: `${words} (${detail})`,
    build: () => editedCopy(contract, apply),
  }));
}

/** The first of each kind. */
export function oneOfEach(mutants: Mutant[]): Mutant[] {
  return [...new Map(mutants.toReversed().map((mutant) => [mutant.kind, mutant])).values()].reverse();
}

function* contractEdits(contract: Json): Generator<Edit> {
  const { paths, components } = contract;
  yield put([], 'openapi', '3.0.3', 'openapi changed');
  yield* versionEdits(contract);
  yield* securityEdits([], contract);
  const ids = Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item).map((node) => node.operationId));
  for (const [path, item] of Object.entries<Json>(paths)) yield* pathEdits(path, item, ids);
  for (const [section, nodes] of Object.entries<Json>(components)) {
    for (const [name, node] of Object.entries<Json>(nodes)) yield* componentEdits(section, name, node);
  }
  yield* referenceEdits(contract);
}

/** The version stands in two places that belong together: the document's own, and the prefix of every server. */
function* versionEdits({ info, servers }: Json): Generator<Edit> {
  const raised = put(['info'], 'version', info.version.replace(/^\d+/, '9'), 'major version raised');
  const moved = servers.map(({ url }: Json, index: number) =>
    put(['servers', index], 'url', url.replace(/\/v\d+$/, '/v9'), 'prefix of one server changed'),
  );
  yield raised;
  yield* moved;
  yield together('prefix changed', moved);
  yield together('prefix and major version changed', [raised, ...moved]);
  yield take([], 'servers', 'servers removed');
}

function* pathEdits(path: string, item: Json, ids: string[]): Generator<Edit> {
  const place = ['paths', path];
  yield take(['paths'], path, 'path removed');
  yield rename(['paths'], path, `${path}-x`, 'path renamed');
  yield rename(['paths'], path, `/deep${path}`, 'path made deeper');
  for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
    yield rename(['paths'], path, path.replace(`{${name}}`, `{${name}X}`), 'path parameter renamed in the path');
  }
  for (const method of METHODS.filter((name) => item[name])) {
    const other = METHODS.find((name) => !item[name]) as string;
    yield take(place, method, 'operation removed');
    yield rename(place, method, other, 'method changed');
    yield put(place, other, item[method], 'operation repeated');
    yield* operationEdits([...place, method], item[method], ids);
  }
}

function* componentEdits(section: string, name: string, node: Json): Generator<Edit> {
  const place = ['components', section, name];
  yield take(['components', section], name, 'component removed');
  if (section === 'schemas') yield* schemaEdits(place, node);
  if (section === 'headers') yield* headerEdits(place, node);
  if (section === 'responses') yield* responseEdits(place, node);
  if (section === 'examples') yield put(place, 'value', { broken: true }, 'example broken');
  if (section === 'securitySchemes') {
    yield put(place, 'scheme', 'basic', 'scheme changed');
    yield put(place, 'type', 'oauth2', 'type of the scheme changed');
  }
}

/** Each reference led to the next component of its section; which example is shown, only people read. */
function* referenceEdits(contract: Json, place: Path = []): Generator<Edit> {
  const node = nodeAt(contract, place);
  if (typeof node !== 'object' || node === null) return;
  const [, section, name] = /^#\/components\/(\w+)\/(.+)$/.exec(node.$ref) ?? [];
  if (section && section !== 'examples') {
    const names = Object.keys(contract.components[section]);
    const next = names[(names.indexOf(name as string) + 1) % names.length];
    yield put(place, '$ref', `#/components/${section}/${next}`, `reference to one of ${section} changed`);
  }
  const keys = Array.isArray(node) ? node.keys() : Object.keys(node);
  for (const key of keys) yield* referenceEdits(contract, [...place, key]);
}
