/** `new` writes an `errors.ts` that makes error bodies in the contract's own form. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { writeErrors } from '../../../src/contract-first/cli/scaffold/errors-file.ts';
import { toJavaScript } from '../../../src/contract-first/cli/typescript/erase-types.js';
import { checkOperations } from '../../../src/contract-first/contract/checks/checked-operations.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { type ErrorCode, HttpError } from '../../../src/contract-first/engine/errors/catalogue.ts';
import { type ToErrorBody, toErrorBody as toUsualBody } from '../../../src/contract-first/engine/errors/error-body.ts';
import { Problem } from '../../../src/contract-first/engine/errors/problem.ts';
import type { Json } from '../../any-json.ts';

const text = { type: 'string' };
const object = (properties: Json, required = Object.keys(properties)): Json => ({
  type: 'object',
  properties,
  required,
});

/** Returns a contract whose replies have these schemas, by status. */
const contractWith = (replies: Record<string, Json>, path = '/things/{id}'): Json => ({
  openapi: '3.1.0',
  info: { title: 'Things', version: '1.0.0' },
  paths: {
    [path]: {
      get: {
        operationId: 'getThing',
        parameters: path.includes('{id}') ? [{ name: 'id', in: 'path', required: true, schema: text }] : [],
        responses: {
          200: { description: 'Found.' },
          ...Object.fromEntries(
            Object.entries(replies).map(([status, schema]) => [
              status,
              { description: 'An error.', content: { 'application/json': { schema } } },
            ]),
          ),
        },
      },
    },
  },
});

let count = 0;

/**
 * Writes the `errors.ts` of a contract, and imports it. Checks that it makes the same bodies as the function that `new`
 * tried. Returns both, and the checks of `generate`.
 */
async function written(t: Test, contract: Json) {
  const folder = t.testdir();
  const file = join(folder, 'contract.json');
  writeFileSync(file, stringify(contract) as string);
  const read = await loadContract(file);
  const { code, toErrorBody, notes } = writeErrors(read);
  const module = join(folder, `errors-${count++}.mjs`);
  writeFileSync(module, code ? await toJavaScript(code.text) : '');
  const imported: { toErrorBody: ToErrorBody } = code
    ? await import(pathToFileURL(module).href)
    : { toErrorBody: toUsualBody };
  const bodyOf = (error: HttpError, reply = String(error.status), make = imported.toErrorBody) =>
    make({ ...error.body, problems: error.problems, requestId: 'r1', operation: 'getThing' as never, reply });
  // Two bodies may differ in their time by a millisecond.
  const untimed = (body: unknown) =>
    stringify(body)?.replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"/g, '"a time"');
  for (const one of ['route_not_found', 'internal_error', 'rate_limited'] as ErrorCode[])
    t.equal(
      untimed(bodyOf(new HttpError(one, 'x'))),
      untimed(bodyOf(new HttpError(one, 'x'), undefined, toErrorBody)),
      one,
    );
  return {
    file: code?.text,
    notes,
    bodyOf,
    check: () => checkOperations(read, { toErrorBody: imported.toErrorBody, domain: {} }),
  };
}

t.test(
  'if an error requires a number of unknown meaning, the errors.ts that `new` writes sets it to 1, or 1n for int64',
  async (t) => {
    for (const format of ['int32', 'int64', undefined]) {
      const amount = { type: 'integer', ...(format && { format }) };
      const { notes, file, check } = await written(t, contractWith({ 404: object({ amount, description: text }) }));
      t.strictSame(notes, ['src/errors.ts: nothing says what a field means: body.amount is 1']);
      t.match(file, format === 'int64' ? 'amount: 1n' : 'amount: 1,');
      t.doesNotThrow(check);
    }
  },
);

const MISSING = new HttpError('route_not_found', 'Nothing is here.');
const INVALID = new HttpError('invalid_request', 'query.limit must be a number', {
  problems: [new Problem('/query/limit', 'type', 'query.limit must be a number')],
});

t.test(
  "`new` writes an errors.ts that fills the contract's error fields according to their names and types",
  async (t) => {
    const FORMS: [name: string, schema: Json, missing: Json][] = [
      [
        'a number and a text',
        object({ code: { type: 'integer', format: 'int32' }, message: text }),
        { code: 404, message: MISSING.message },
      ],
      [
        'a 64-bit number',
        object({ code: { type: 'integer', format: 'int64' }, message: text }),
        { code: 404n, message: MISSING.message },
      ],
      ['one text', text, MISSING.message],
      ['a text with bounds', object({ error: { type: 'string', minLength: 3, maxLength: 9 } }), { error: 'Nothing i' }],
      [
        'problem details',
        object({
          type: { type: 'string', format: 'uri-reference' },
          title: text,
          status: { type: 'integer' },
          detail: text,
          instance: text,
        }),
        { type: 'about:blank', title: 'Not Found', status: 404, detail: MISSING.message, instance: 'r1' },
      ],
      [
        'OAuth, in an object, with a constant',
        object({ error: object({ code: { ...text, example: 'NOT_FOUND' }, message: text }), ok: { const: false } }),
        { error: { code: 'ROUTE_NOT_FOUND', message: MISSING.message }, ok: false },
      ],
      [
        'spellings',
        object({
          error_code: { ...text, example: 'not-found' },
          error_description: text,
          success: { type: 'boolean' },
          retryable: { type: 'boolean' },
        }),
        { error_code: 'route-not-found', error_description: MISSING.message, success: false, retryable: false },
      ],
      [
        'a code in one word',
        object({ errorCode: { ...text, example: 'NotFound' }, msg: text }),
        { errorCode: 'RouteNotFound', msg: MISSING.message },
      ],
      [
        'a code as a name',
        object({ errorCode: { ...text, example: 'notFound' }, msg: text }),
        { errorCode: 'routeNotFound', msg: MISSING.message },
      ],
      [
        'a status as a text',
        object({ status: text, title: text, failed: { type: 'boolean' } }),
        { status: '404', title: 'Not Found', failed: true },
      ],
      [
        'a default, null, and a text without a meaning',
        object({
          colour: { ...text, default: 'red' },
          hue: { type: ['string', 'null'] },
          shade: { ...text, enum: ['x'] },
          message: text,
        }),
        { colour: 'red', hue: null, shade: 'x', message: MISSING.message },
      ],
      [
        'one of two forms',
        { oneOf: [object({ reason: { type: 'string', pattern: '^y$' } }), object({ reason: text, name: text })] },
        { reason: MISSING.message, name: 'route_not_found' },
      ],
    ];
    for (const [name, schema, missing] of FORMS) {
      const { bodyOf, check, notes } = await written(t, contractWith({ default: schema }));
      t.strictSame(bodyOf(MISSING, 'default'), missing, name);
      t.strictSame(check(), [], name);
      if (name !== 'a default, null, and a text without a meaning') t.strictSame(notes, [], name);
    }
  },
);

t.test(
  "the errors.ts that `new` writes puts the problems of a request into the list or map of the contract's error",
  async (t) => {
    const item = object({ field: text, message: text, code: text, in: text });
    const made = { field: 'limit', message: INVALID.message, code: 'type', in: 'query' };
    const FORMS: [errors: Json, invalid: Json, missing: Json][] = [
      [{ type: 'array', items: item }, [made], []],
      [{ type: 'array', items: item, maxItems: 3 }, [made], []],
      [{ type: 'array', items: { enum: ['bad', 'worse'] } }, ['bad'], []],
      [
        { type: 'array', items: object({ message: text }), minItems: 1 },
        [{ message: INVALID.message }],
        [{ message: MISSING.message }],
      ],
      [{ type: 'array', items: text }, [INVALID.message], []],
      [{ type: 'object', additionalProperties: { type: 'array', items: text } }, { limit: [INVALID.message] }, {}],
      [{ type: 'object', additionalProperties: text }, { limit: INVALID.message }, {}],
    ];
    for (const [errors, invalid, missing] of FORMS) {
      const needed = await written(t, contractWith({ default: object({ message: text, errors }) }));
      t.match(needed.bodyOf(INVALID, 'default'), { errors: invalid });
      t.match(needed.bodyOf(MISSING, 'default'), { errors: missing });
      t.strictSame(needed.check(), []);
      const optional = await written(t, contractWith({ default: object({ message: text, errors }, ['message']) }));
      t.match(optional.bodyOf(INVALID, 'default'), { errors: invalid });
      t.strictSame(optional.check(), []);
    }
  },
);

t.test(
  "the errors.ts that `new` writes chooses a code of the contract's enum by the status of the error",
  async (t) => {
    const codes = { enum: ['BAD_INPUT', 'UNKNOWN_THING', 'TOO_MANY', 'SERVER_ERROR'] };
    const table = await written(t, contractWith({ default: object({ 'error-code': codes, message: text }) }));
    t.match(table.file, /^const ERROR_CODE_BY_STATUS = \{\n {2}400: 'BAD_INPUT',\n/m);
    t.match(table.bodyOf(MISSING, 'default'), { 'error-code': 'UNKNOWN_THING' });
    t.match(table.bodyOf(new HttpError('rate_limited', 'x'), 'default'), { 'error-code': 'TOO_MANY' });
    t.match(table.bodyOf(new HttpError('internal_error', 'x'), 'default'), { 'error-code': 'SERVER_ERROR' });
    t.strictSame(table.check(), []);

    const own = await written(
      t,
      contractWith({
        400: object({ problems: { type: 'array', items: text } }),
        404: object({ message: text }),
        default: object({ message: text }),
      }),
    );
    t.match(
      own.file,
      "if (reply === '400') return { problems: problems?.map((problem) => problem.message) ?? [message] };",
    );
    t.strictSame(
      [own.bodyOf(INVALID), own.bodyOf(MISSING)],
      [{ problems: [INVALID.message] }, { message: MISSING.message }],
    );
    t.strictSame(own.check(), []);
  },
);

t.test('if two operations have different schemas for 404, the errors.ts that `new` writes fits both', async (t) => {
  const contract = contractWith({ 404: object({ message: text }), default: object({ message: text }) });
  const other = contractWith({ 404: object({ error: text }), default: object({ message: text }) }, '/others/{id}');
  other.paths['/others/{id}'].get.operationId = 'getOther';
  Object.assign(contract.paths, other.paths);
  const { file, check } = await written(t, contract);
  t.match(file, "const REPLIES_2 = new Set([\n  'getOther 404',\n]);");
  t.match(file, /^ {2}if \(REPLIES_2\.has\(.*\)\) return \{ error: message \};$/m);
  t.strictSame(check(), []);
});

t.test(
  "`new` writes no errors.ts if the server's own error body fits; otherwise, it prints a note for each assumed field",
  async (t) => {
    const ours = { code: text, message: text, status: { type: 'integer' }, problems: { type: 'array' } };
    const usual = await written(t, contractWith({ default: object(ours, ['code', 'message', 'status']) }));
    t.strictSame([usual.file, usual.notes], [undefined, []]);
    const open = await written(t, contractWith({ 404: object({ reason: text }), 500: true }));
    t.match(
      open.file,
      /^ {2}return \{ reason: message \};$/m,
      'an error with an open schema has the form of the others',
    );
    const request = await written(t, contractWith({ default: object({ name: { type: 'array', items: text } }, []) }));
    t.strictSame(request.bodyOf(MISSING, 'default'), { name: [MISSING.message] });
    t.strictSame(request.notes, ['src/errors.ts: nothing says what a field means: body.name is the message']);
    const assumed = await written(
      t,
      contractWith({ default: object({ message: text, region: { ...text, example: 'eu' } }) }),
    );
    t.strictSame(assumed.notes, ['src/errors.ts: nothing says what a field means: body.region is "eu"']);
    const id = { ...text, format: 'uuid', example: '123e4567-e89b-42d3-a456-426614174000' };
    const optional = await written(t, contractWith({ default: object({ error: object({ id, message: text }) }, []) }));
    t.strictSame(optional.bodyOf(MISSING, 'default'), { error: { id: id.example, message: MISSING.message } });
    t.strictSame(optional.notes, [`src/errors.ts: nothing says what a field means: body.error.id is "${id.example}"`]);
    t.strictSame(optional.check(), []);
    const impossible = await written(
      t,
      contractWith({ default: object({ message: { type: 'string', pattern: '^x+$', maxLength: 1 } }) }),
    );
    t.match(impossible.notes, [
      /^operation getThing: response default: no body was found: write it in src\/errors\.ts$/,
    ]);
  },
);

t.test('if an error body must be a text of an enum, the errors.ts that `new` writes sends such a text', async (t) => {
  for (const schema of [
    { enum: ['Internal Server Error'] },
    { const: 'Internal Server Error' },
    { ...text, maxLength: 3 },
  ]) {
    const contract = contractWith({ 404: text, 500: text });
    contract.paths['/things/{id}'].get.responses[500].content = { 'text/plain': { schema: { ...text, ...schema } } };
    const { check } = await written(t, contract);
    t.strictSame(check(), []);
  }
});

t.test(
  'if the name of an error field says nothing, the errors.ts that `new` writes fills the field according to its type',
  async (t) => {
    const FORMS: [schema: Json, missing: Json][] = [
      [object({ type: text, title: text, status: { type: 'integer' }, detail: text }), { type: 'about:blank' }],
      [
        object({ message: text, link: { ...text, format: 'uri' }, date: { ...text, format: 'date-time' } }, [
          'message',
          'link',
        ]),
        { link: 'about:blank' },
      ],
      [object({ message: text, failedAt: { ...text, format: 'date-time' } }), { failedAt: /^20/ }],
      [object({ message: text, isOdd: { type: 'boolean' }, more: { type: 'object' } }), { isOdd: true, more: {} }],
      [
        { ...object({ message: text }), required: ['message', 'error'], additionalProperties: text },
        { message: MISSING.message },
      ],
      [
        object({ message: text, errors: { type: 'object', additionalProperties: { type: 'integer' } } }),
        { errors: {} },
      ],
      [object({ message: text, size: { type: 'integer', format: 'int64', minimum: 9007199254740993n } }), {}],
      [object({ message: text, '0': { enum: ['NOT_FOUND', 'SERVER_ERROR'] } }), { 0: 'NOT_FOUND' }],
      [
        object({
          message: text,
          errors: { type: 'array', items: object({ message: text, line: { type: 'integer' } }) },
        }),
        { errors: [] },
      ],
    ];
    for (const [schema, missing] of FORMS) {
      const { bodyOf, check } = await written(t, contractWith({ default: schema }));
      t.match(bodyOf(MISSING, 'default'), missing);
      t.strictSame(check(), []);
    }
    const constant = await written(t, contractWith({ default: object({ failed: { const: true } }) }));
    t.match(constant.file, 'export function toErrorBody(): OwnErrorBody {');
    const table = await written(
      t,
      contractWith({
        404: object({ kind: { enum: ['NOT_FOUND', 'BAD'] } }),
        400: object({ kind: { enum: ['NOT_FOUND', 'BAD'] } }),
      }),
    );
    t.match(table.bodyOf(new HttpError('rate_limited', 'x'), '400'), { kind: 'NOT_FOUND' });
    const low = object({ status: { type: 'string', pattern: '^404$|^é$' } });
    const some = await written(t, contractWith({ 400: low, 404: low, 500: low }));
    t.strictSame(some.bodyOf(MISSING), { status: '404' });
    t.match(some.notes, [/response 400: no body was found/, /response 500: no body was found/]);
    const unnamed = await written(t, contractWith({ default: { ...object({ message: text }), required: ['reason'] } }));
    t.strictSame(unnamed.bodyOf(MISSING, 'default').message, MISSING.message);
    const loop = object({ message: text, inner: { $ref: '#/components/schemas/Loop' } }, ['message']);
    const recursive = contractWith({ default: { $ref: '#/components/schemas/Loop' } });
    recursive.components = { schemas: { Loop: loop } };
    t.strictSame((await written(t, recursive)).bodyOf(MISSING, 'default'), { message: MISSING.message });
  },
);
