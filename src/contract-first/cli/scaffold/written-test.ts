/** Writes the test of a collection. The test creates a record, gets it, lists it, changes it and deletes it. */
import { toSampleRequest } from '../../contract/page/request.ts';
import { buildSamples, toReadSample } from '../../contract/page/sample.ts';
import { type DocumentSource, toSource } from '../../contract/page/source.ts';
import type { AnyContract, Content, Operation, Parameter, Reply } from '../../engine/contract/contract.ts';
import type { MediaNode } from '../../engine/contract/document.ts';
import { replyFor } from '../../engine/contract/replies.ts';
import { buildToBigints } from '../../engine/schema/bigints.ts';
import { int64sOf } from '../../engine/schema/int64-map.ts';
import type { Schema } from '../../engine/schema/json.ts';
import {
  type CheckedCode,
  checkedName,
  code,
  joined,
  member,
  toLiteral,
  toObjectLiteral,
  toPropertyName,
} from '../generate/source-text.ts';
import type { WrittenCollection } from './collection-files.ts';
import type { CollectionPlan } from './collection-plan.ts';
import { conditionOf, declaresDemand } from './condition-headers.ts';
import { type Envelope, envelopeOf, isEnvelopeOf, successOf, wordsOf } from './envelopes.ts';
import type { FirstRecord } from './first-records.ts';
import { kindOf } from './handler-code.ts';
import { idsIn, type OperationKind } from './resource-paths.ts';

/**
 * The start of each `Idempotency-Key`. Several tests may use the same keys, because every test uses a separate
 * database.
 */
const ONCE = '123e4567-e89b-42d3-a456-4266141740';

export const testFileOf = ({ name }: WrittenCollection): string => `test/${wordsOf(name).join('-')}.test.ts`;

/**
 * Writes the test. `all` contains all collections, among them that of the parent. Returns undefined if the test cannot
 * find out the id of a new record or of its parent.
 */
export function writeTest(
  contract: AnyContract,
  collection: WrittenCollection,
  all: WrittenCollection[],
): string | undefined {
  const parent = all.find(({ name }) => name === collection.plan.parent?.name);
  return new TestCode(contract, collection, parent).toText();
}

/** Writes the access to a field of a value that may be undefined: `value?.field`. */
const toOptionalMember = (value: CheckedCode, field: string): CheckedCode =>
  code`${value}?.${/^[A-Za-z_$][\w$]*$/.test(field) ? checkedName(field) : code`[${field}]`}`;

class TestCode {
  readonly #collection: WrittenCollection;
  /** The collection of the parent that the path of the records identifies. */
  readonly #parent: WrittenCollection | undefined;
  readonly #source: DocumentSource;
  readonly #samples: ReturnType<typeof buildSamples>;
  readonly #lines: CheckedCode[] = [];
  readonly #verbs: string[] = [];
  #keys = 0;

  constructor(contract: AnyContract, collection: WrittenCollection, parent: WrittenCollection | undefined) {
    this.#collection = collection;
    this.#parent = parent;
    this.#source = toSource(contract);
    this.#samples = buildSamples(this.#source);
  }

  toText(): string | undefined {
    const { first } = this.#collection;
    const create = this.#operation('create');
    const get = this.#operation('get');
    const isShown = create && this.#shows(create, this.#collection);
    if (!first && !isShown && !(create && get && this.#collection.plan.isPut)) return undefined;
    if (this.#parent && !this.#createParent(this.#parent)) return undefined;
    if (create) this.#create(create, isShown ? undefined : get);
    else if (first) this.#useFirst(first);
    if (get && create) this.#find(get, isShown ? create : get, code`record`, 'found');
    else if (get) this.#findFirst(get);
    const list = this.#operation('list');
    if (list) this.#list(list);
    for (const kind of ['update', 'replace'] as const) {
      const operation = this.#operation(kind);
      if (operation) this.#change(operation, get, kind);
    }
    const remove = this.#operation('delete');
    if (remove) this.#delete(remove, get);
    return this.#toFile();
  }

  /** Returns the operation of this kind, if its handler was written. */
  #operation(kind: OperationKind): Operation | undefined {
    const operation = this.#collection.plan.operations.get(kind);
    return operation && this.#collection.handlers.has(operation.id) ? operation : undefined;
  }

  /** True if the reply to an operation shows the record. */
  #shows = (change: Operation, { plan }: WrittenCollection): boolean =>
    isEnvelopeOf(envelopeOf(change, plan, this.#source), plan, this.#source);

  /** Writes code that creates the parent of the record. Returns false if the test cannot find out the parent's id. */
  #createParent(parent: WrittenCollection): boolean {
    const create = parent.plan.operations.get('create') as Operation;
    if (parent.plan.parentPlan || parent.plan.isPut || !this.#shows(create, parent)) return false;
    this.#call('parentCreated', create, [['body', this.#sampleOf(create)]]);
    const body = code`parentCreated.body`;
    this.#lines.push(code`const parent = ${this.#recordIn(create, body, parent.plan)};`);
    this.#lines.push(code`assert.ok(parent);`);
    return true;
  }

  /**
   * Writes code that creates the record. If the reply to the create does not show the record, `first` is the operation
   * that shows it.
   */
  #create(create: Operation, first: Operation | undefined): void {
    this.#call('created', create, create.body ? [['body', this.#bodyOf(create, this.#ownIdOf(create))]] : []);
    if (first) this.#call('shown', first, []);
    const record = first ? this.#recordIn(first, code`shown.body`) : this.#recordIn(create, code`created.body`);
    this.#lines.push(code`const record = ${record};`);
    this.#lines.push(code`assert.ok(record);`);
    const { id, columns } = this.#collection.plan;
    if (columns.includes(id)) this.#lines.push(code`assert.ok(${member('record', id.name)} !== undefined);`);
    this.#verbs.push('created');
  }

  /** Writes an object with the id of the first record, which a migration has inserted. */
  #useFirst(first: FirstRecord): void {
    const { name } = this.#collection.plan.id;
    this.#lines.push(code`const record = ${toObjectLiteral([[name, toLiteral(first[name])]])};`);
  }

  /** Writes code that gets the first record, which a migration has inserted. */
  #findFirst(get: Operation): void {
    this.#call('found', get, []);
    const { name } = this.#collection.plan.id;
    const id = toOptionalMember(this.#recordIn(get, code`found.body`), name);
    this.#lines.push(code`assert.equal(${id}, ${member('record', name)});`);
    this.#verbs.push('found');
  }

  /** Writes the id in the path of a PUT as a field for the body. Empty if the body does not contain the id. */
  #ownIdOf(create: Operation): CheckedCode[] {
    const { id, isPut } = this.#collection.plan;
    const parameter = create.parameters.find((one) => one.in === 'path');
    if (!isPut || !parameter || !this.#has(create, id.name)) return [];
    return [code`${toPropertyName(id.name)}: ${this.#toParameter(create, parameter)}`];
  }

  /** Writes code that gets the record, and compares it with the record in the reply to a change. */
  #find(get: Operation, change: Operation, wanted: CheckedCode, name: string): void {
    this.#call(name, get, []);
    const found = this.#recordIn(get, code`${checkedName(name)}.body`);
    const [all, shown] = [this.#fieldsOf(get), this.#fieldsOf(change)];
    const isPart = shown.length < all.length && shown.every((field) => all.includes(field));
    const [actual, expected] = isPart ? [code`{ ...${found}, ...${wanted} }`, found] : [found, wanted];
    this.#lines.push(code`assert.deepEqual(${actual}, ${expected});`);
    if (name !== 'found') return;
    this.#verbs.push('found');
    if (conditionOf(get)) this.#callWith(get, 'unchanged', '*', 304);
  }

  /** Returns the names of the record's fields in a reply. */
  #fieldsOf(operation: Operation): string[] {
    const { schema } = envelopeOf(operation, this.#collection.plan, this.#source) as Envelope;
    // `envelopeOf` finds a record only in schemas with properties.
    return Object.keys(this.#source.flat(schema).properties as object);
  }

  #list(list: Operation): void {
    this.#call('listed', list, []);
    const records = this.#recordIn(list, code`listed.body`);
    const { id, columns } = this.#collection.plan;
    this.#lines.push(
      columns.includes(id)
        ? code`assert.ok(${records}?.some((one) => ${member('one', id.name)} === ${member('record', id.name)}));`
        : code`assert.deepEqual(${records}, [record]);`,
    );
    this.#verbs.push('listed');
  }

  #change(change: Operation, get: Operation | undefined, kind: 'update' | 'replace'): void {
    const name = kind === 'update' ? 'changed' : 'replaced';
    const { id, columns } = this.#collection.plan;
    // The id of the record must replace the sample's id, or be added if only the body can contain it.
    const isOther = columns.includes(id) && (this.#has(change, id.name) || !change.path.includes('{'));
    const own = isOther ? [code`${toPropertyName(id.name)}: ${member('record', id.name)}`] : [];
    const body = [['body', this.#bodyOf(change, own)]] as const;
    this.#outdated(change, name, body);
    this.#call(name, change, body);
    this.#verbs.push(name);
    if (get && this.#shows(change, this.#collection))
      this.#find(get, change, this.#recordIn(change, code`${checkedName(name)}.body`), `${name}Record`);
  }

  /**
   * Writes the sample body of an operation. The fields in `own` and the ids in the path replace those of the sample.
   */
  #bodyOf(operation: Operation, own: CheckedCode[]): CheckedCode {
    const { parentPlan, scopes } = this.#collection.plan;
    const { column, plan } = parentPlan ?? {};
    const parameters = idsIn(operation, this.#collection.plan).owners.map(
      (name) => operation.parameters.find((one) => one.in === 'path' && one.name === name) as Parameter,
    );
    const ofScopes = scopes.flatMap(({ column: { name } }, index) => {
      const parameter = this.#has(operation, name) ? parameters[index] : undefined;
      return parameter ? [code`${toPropertyName(name)}: ${this.#toParameter(operation, parameter)}`] : [];
    });
    const ofParent =
      column && plan && this.#has(operation, column.name)
        ? [code`${toPropertyName(column.name)}: ${member('parent', plan.id.name)}`]
        : [];
    const fields = [...own, ...ofParent, ...ofScopes];
    const sample = this.#sampleOf(operation);
    return fields.length > 0 ? code`{ ...${sample}, ${joined(fields, ', ')} }` : sample;
  }

  #has(operation: Operation, name: string): boolean {
    return name in Object(this.#valueOf(operation));
  }

  /** Writes a change with an outdated entity tag, if the contract declares the error 412 for it. */
  #outdated(change: Operation, name: string, fields: readonly (readonly [string, CheckedCode])[] = []): void {
    if (!conditionOf(change) || !replyFor(change.replies, 412)) return;
    this.#callWith(change, `outdated${name.charAt(0).toUpperCase()}${name.slice(1)}`, '"0"', 412, fields);
  }

  /** Writes a call with this condition header, and a check of its status. */
  #callWith(
    operation: Operation,
    name: string,
    condition: string,
    status: number,
    fields: readonly (readonly [string, CheckedCode])[] = [],
  ): void {
    const call = code`${member('client', operation.id)}(${this.#argument(operation, fields, condition)})`;
    this.#lines.push(code`const ${checkedName(name)} = await ${call};`);
    this.#lines.push(code`assert.equal(${checkedName(name)}.status, ${status});`);
  }

  #delete(remove: Operation, get: Operation | undefined): void {
    this.#outdated(remove, 'deleted');
    this.#call('deleted', remove, []);
    this.#verbs.push('deleted');
    if (!get || !replyFor(get.replies, 404)) return;
    this.#lines.push(code`assert.equal((await ${member('client', get.id)}(${this.#argument(get, [])})).status, 404);`);
  }

  #call(name: string, operation: Operation, fields: readonly (readonly [string, CheckedCode])[]): void {
    const { status } = successOf(operation) as Reply;
    const call = code`${member('client', operation.id)}(${this.#argument(operation, fields)})`;
    this.#lines.push(code`const ${checkedName(name)} = await ${call};`);
    this.#lines.push(code`assert.ok(${checkedName(name)}.status === ${Number(status)});`);
  }

  /**
   * Writes the argument of a call. If the operation requires a condition header and `given` is undefined, the header
   * gets a value that lets the call succeed.
   */
  #argument(operation: Operation, fields: readonly (readonly [string, CheckedCode])[], given?: string): CheckedCode {
    const condition = given ?? (operation.method === 'GET' ? '"0"' : '*');
    const params = operation.parameters
      .filter((one) => one.in === 'path')
      .map((one) => [one.name, this.#toParameter(operation, one)] as const);
    const once = operation.parameters.find(({ keptHours, required }) => keptHours !== undefined && required);
    const known = conditionOf(operation);
    const { tenant } = this.#collection.plan;
    const headers = [
      ...(tenant ? [[tenant.name, this.#toSample(tenant.schema)] as const] : []),
      ...(once ? [[once.name, this.#toKey()] as const] : []),
      ...(known && (known.required || declaresDemand(operation) || given !== undefined)
        ? [[known.name, toLiteral(condition)] as const]
        : []),
    ];
    const parts = [
      ...(params.length > 0 ? [['params', toObjectLiteral(params)] as const] : []),
      ...(headers.length > 0 ? [['headers', toObjectLiteral(headers)] as const] : []),
      ...fields,
    ];
    return parts.length > 0 ? toObjectLiteral(parts) : code``;
  }

  /** Writes a new `Idempotency-Key`. */
  #toKey = (): CheckedCode => toLiteral(ONCE + String(this.#keys++).padStart(2, '0'));

  /** Writes the value of a path parameter: the id of the record or of its parent, or a sample. */
  #toParameter(operation: Operation, { name, schema }: Parameter): CheckedCode {
    const { plan } = this.#collection;
    const { own: ownName, owners } = idsIn(operation, plan);
    const isOwn = name === ownName;
    if (isOwn && plan.isPut && !plan.keyParent) return this.#toSample(schema);
    const scope = isOwn ? undefined : plan.scopes[owners.indexOf(name)];
    if (scope) return this.#toSample(schema, this.#collection.first?.[scope.column.name]);
    const parent = plan.keyParent ?? plan.parentPlan?.plan;
    const [variable, id] = isOwn && !plan.keyParent ? ['record', plan.id] : ['parent', (parent as CollectionPlan).id];
    const own = { int64: 'bigint', int32: 'number', number: 'number' }[id.type as string] ?? 'string';
    const wanted = kindOf(schema) as 'bigint' | 'number' | 'string';
    const value = member(variable, id.name);
    const converted = {
      bigint: code`BigInt(${value})`,
      number: code`Number(${value})`,
      string: code`String(${value})`,
    };
    return own === wanted ? value : converted[wanted];
  }

  /** Writes a sample for a parameter that is not the id of a stored record. */
  #toSample(schema: Schema, first?: unknown): CheckedCode {
    const value = first ?? this.#samples.ofSchema(schema, 'readOnly');
    const convert = { bigint: BigInt, number: Number, string: String }[kindOf(schema) as 'bigint'];
    return toLiteral(convert(value as bigint));
  }

  /**
   * Writes the access to the record, or to the list of records, in a body: `body?.data`. Fields of an envelope may be
   * absent.
   */
  #recordIn(operation: Operation, body: CheckedCode, words = this.#collection.plan): CheckedCode {
    const { path, isList } = envelopeOf(operation, words, this.#source) as Envelope;
    const found = path.reduce(toOptionalMember, body);
    return isList && operation !== words.operations.get('list') ? code`${found}?.[0]` : found;
  }

  /** Returns the sample body of an operation, with 64-bit integers as `bigint`. */
  #valueOf(operation: Operation): unknown {
    const values = { ...this.#source, ...this.#samples };
    const { media, content } = toSampleRequest(values, operation).body as { media: MediaNode; content: Content };
    const [sample] = this.#samples.ofMedia(media, 'readOnly');
    const exact = toReadSample((sample as { value: unknown }).value);
    return buildToBigints(int64sOf(content.schema))?.(exact) ?? exact;
  }

  #sampleOf = (operation: Operation): CheckedCode => toLiteral(this.#valueOf(operation));

  #toFile(): string {
    const verbs = new Intl.ListFormat('en').format(this.#verbs);
    const title = `a record of ${this.#collection.name} is ${verbs}`;
    return code`import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestServer } from 'contract-first/test';
import { service } from '../src/generated/service.ts';

test(${title}, async (t) => {
  const { client } = await openTestServer(t, service);
${joined(
  this.#lines.map((line) => code`  ${line}\n`),
  '',
)}});
`.text;
  }
}
