/** The first `src/errors.ts` of a contract, as `npm run contract:use` writes it: what it fills, and that it compiles. */
import t from 'tap';
import { stringify } from 'yaml';
import { buildTypes } from '../../scripts/contract-types.ts';
import { buildErrorsFile, loadErrors } from '../../scripts/contract-use/errors-file.ts';
import { judge } from '../../scripts/contract-use/judgement.ts';
import type { OwnError } from '../../src/engine/error-body.ts';
import { CATALOGUE } from '../../src/engine/errors.ts';
import { compileOperations } from '../../src/engine/routes/compiled-operations.ts';
import { load } from '../added-operations.ts';
import type { Json } from '../any-json.ts';
import { buildDiagnose } from '../compiler.ts';

const string = { type: 'string' };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const object = (properties: Json, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});
const MESSAGE = 'query.q must be of type integer';

const reply = (schema: Json) => ({ description: 'Wrong.', content: { 'application/json': { schema } } });

/** A contract whose operations have these error replies, each by its status. */
const contractOf = (...errors: Json[]) =>
  stringify({
    openapi: '3.1.0',
    info: { title: 'Other', version: '1' },
    paths: Object.fromEntries(
      errors.map((replies, index) => [
        `/${index}`,
        { get: { operationId: `get${index}`, responses: { '200': { description: 'Done.' }, ...replies } } },
      ]),
    ),
  });

const FOUND: OwnError = {
  code: 'invalid_request',
  message: MESSAGE,
  status: 400,
  problems: undefined,
  requestId: 'r-1',
  operation: undefined,
  reply: '400',
};
const at = (operation: string, reply = '400') => ({ ...FOUND, operation, reply }) as unknown as OwnError;

const diagnose = buildDiagnose({ noUnusedLocals: false });

/** The compiler's words about the file, with the types of its contract. */
async function saidOf(text: string, document: Json): Promise<string> {
  const texts = { 'src/errors.ts': text, 'src/generated/contract.ts': (await buildTypes(document)).text };
  return [...diagnose(['src/errors.ts'], texts)].map(([, said]) => said).join(' ');
}

const int64 = { type: 'integer', format: 'int64' };
const list = (items: Json, others: Json = {}) => ({ type: 'array', items, ...others });

/** Error schemas, how they are filled, and the fields that are left to the team. */
const FILLED: [sentence: string, schema: Json, body: Json, open?: string][] = [
  [
    'RFC 9457',
    object(
      {
        type: { ...string, format: 'uri-reference' },
        title: string,
        status: integer,
        detail: string,
        instance: { ...string, format: 'uri' },
      },
      [...['type', 'title', 'status', 'detail']],
    ),
    { type: 'about:blank', title: 'invalid_request', status: 400, detail: MESSAGE },
  ],
  [
    'a list of codes that has those of the server',
    object({ code: { ...string, 'x-extensible-enum': ['pet_is_lost', ...Object.keys(CATALOGUE)] }, message: string }),
    { code: 'invalid_request', message: MESSAGE },
  ],
  [
    'further fields of another kind',
    { ...object({ detail: string, status: integer }), additionalProperties: object({ a: string }) },
    { detail: MESSAGE, status: 400 },
  ],
  [
    'an error in an object',
    object({ error: object({ code: integer, message: string }) }),
    { error: { code: 400, message: MESSAGE } },
  ],
  [
    'a success that is false',
    object({ success: boolean, error: string }),
    { success: false, error: 'invalid_request' },
  ],
  ['a flag and a constant', object({ failed: boolean, kind: { const: 'error' } }), { failed: true, kind: 'error' }],
  ['a status that is text', object({ status: string, message: string }), { status: '400', message: MESSAGE }],
  [
    'a list of errors',
    object({ errors: list(object({ message: string }), { minItems: 1 }) }),
    { errors: [{ message: MESSAGE }] },
  ],
  [
    'a list of what nothing is known of',
    object({ code: string, where: list(integer) }),
    { code: 'invalid_request', where: [] },
  ],
  [
    'null where nothing else may be',
    object({ message: string, data: { type: 'null' }, none: { const: null }, list: { items: integer } }),
    { message: MESSAGE, data: null, none: null, list: [] },
  ],
  [
    'alternatives',
    { anyOf: [object({ area: integer }), object({ message: string, status: integer })] },
    { message: MESSAGE, status: 400 },
  ],
  ['a required text of any name', object({ title: string, hint: string }), { title: 'invalid_request', hint: MESSAGE }],
  [
    'as much text as fits',
    object({ status: { enum: ['error'] }, message: { ...string, maxLength: 7 }, reason: { ...string, minLength: 50 } }),
    { status: 'error', message: MESSAGE.slice(0, 7), reason: MESSAGE.padEnd(50) },
  ],
  [
    'a status of a few',
    object({ status: { type: 'integer', enum: [400, 404] }, message: string }),
    { status: 400, message: MESSAGE },
  ],
  ['text', string, MESSAGE],
  ['no type', { properties: { message: string }, required: ['message'], maxProperties: 1 }, { message: MESSAGE }],
  [
    'parts',
    { allOf: [{ required: ['status', 'message'] }], type: 'object', properties: { status: integer, message: string } },
    { status: 400, message: MESSAGE },
  ],
  [
    'parts that say more of a field than one of them',
    {
      allOf: [
        object({ status: integer, message: string }),
        { type: 'object', properties: { status: { enum: [400] } } },
      ],
    },
    { status: 400, message: MESSAGE },
  ],
  [
    'parts that say more of the items of a list than one of them',
    {
      allOf: [
        object({ errors: list({ type: 'object' }) }),
        { properties: { errors: list(object({ code: integer, text: string }, ['code'])) } },
      ],
    },
    { errors: [{ code: 400, text: MESSAGE }] },
  ],
  [
    'parts that leave out the fields of others',
    {
      allOf: [
        { ...object({ message: string, Source: string }, []), additionalProperties: false },
        { ...object({ message: string, errors: string }, []), additionalProperties: false },
      ],
    },
    { message: MESSAGE, Source: undefined, errors: undefined },
  ],
  ['no schema', object({ message: {}, list: { items: integer } }), { message: MESSAGE, list: [] }],
  ['nothing said', {}, { code: 'invalid_request', message: MESSAGE, status: 400 }],
  ['any object', { type: 'object' }, { code: 'invalid_request', message: MESSAGE, status: 400 }],
  ['an object without fields', { type: 'object', additionalProperties: false }, {}],
  ['a map of texts', { type: 'object', additionalProperties: string }, { message: MESSAGE }],
  [
    'the id of the request',
    object({ request_id: string, 'trace-id': { ...string, maxLength: 64 }, error: string }, []),
    { request_id: 'r-1', 'trace-id': 'r-1', error: 'invalid_request' },
  ],
  [
    'fields that need not be there, of which nothing is known',
    object({ area: integer, hint: string }, []),
    { hint: MESSAGE },
  ],
  ['64-bit integers', object({ code: int64, area: int64 }), { code: 400n, area: 0n }, "'area'"],
  [
    'names that are no names of variables',
    object({ 'error-code': integer, __proto__2: boolean, "a'b": boolean }),
    { 'error-code': 0, __proto__2: true, "a'b": true },
    "'error-code'",
  ],
  [
    'values that only its team knows, by an example or by what fits',
    object({
      message: string,
      area: { enum: ['a', 'b'] },
      size: { ...integer, minimum: 5 },
      when: { ...string, format: 'date-time' },
      key: { ...string, pattern: '^[A-Z]{3}$' },
      id: { ...string, format: 'uuid' },
      hint: { ...string, examples: ['none'] },
    }),
    { message: MESSAGE, area: 'a', size: 5, when: /^20.*Z$/, key: 'ERR', id: /^0{8}-/, hint: 'none' },
    "'area', 'size', 'key', 'id', 'hint'",
  ],
  [
    'fields with a default, which the compiler demands',
    object(
      { detail: string, instance: { ...string, default: '/a' }, size: { ...int64, default: 2 }, area: integer },
      [],
    ),
    { detail: MESSAGE, instance: '/a', size: 2n, area: undefined },
    "'instance', 'size'",
  ],
  ['a list that must not be empty', object({ list: list(integer, { minItems: 1 }) }), { list: [0] }, "'list'"],
  [
    'codes of their own',
    object({ message: string, kind: { ...string, 'x-extensible-enum': ['odd', 'even'] } }),
    { message: MESSAGE, kind: 'odd' },
    "'kind'",
  ],
  [
    'codes of their own, of which one is near',
    object({
      code: { enum: ['None', 'ServerError', 'InvalidRequest'] },
      sub: { enum: [1, 'UnknownSub'] },
      message: string,
    }),
    { code: 'InvalidRequest', sub: 'UnknownSub', message: MESSAGE },
    "'code', 'sub'",
  ],
  [
    'a field without a schema of its own',
    { type: 'object', required: ['message', 'size'], properties: { message: string }, additionalProperties: integer },
    { message: MESSAGE, size: 0 },
    "'size'",
  ],
];

t.test('the first src/errors.ts is filled by names and types, compiles, and fits every reply', async (t) => {
  const contract = await load(t, contractOf(...FILLED.map(([, schema]) => ({ '400': reply(schema) }))));
  const text = buildErrorsFile(contract);
  const toErrorBody = await loadErrors(text);
  for (const [index, [sentence, , body]] of FILLED.entries()) t.match(toErrorBody(at(`get${index}`)), body, sentence);
  const opens = FILLED.flatMap(([, , , open]) => (open ? [`// To be decided: ${open}.`] : []));
  t.strictSame(text.match(/\/\/ To be decided.*/g)?.sort(), opens.sort());
  t.equal(compileOperations(contract, toErrorBody).size, FILLED.length);
  t.equal(await saidOf(text, contract.document), '');
});

t.test('each operation has the form of its own replies, also where one is not declared', async (t) => {
  const [plain, problem, flag] = [object({ message: string }), object({ detail: string }), object({ failed: boolean })];
  const yaml = contractOf(
    { '400': reply(plain), '401': reply(plain) },
    { '400': reply(problem), '4XX': reply(problem), default: reply(flag) },
    { '500': reply(plain), '204': { description: 'None.' }, '404': { description: 'None.' } },
  );
  const contract = await load(t, yaml);
  const text = buildErrorsFile(contract);
  const toErrorBody = await loadErrors(text);
  const [plainBody, problemBody] = [{ message: MESSAGE }, { detail: MESSAGE }];
  t.strictSame(toErrorBody(at('get0')), plainBody);
  t.strictSame(toErrorBody({ ...at('get0'), reply: undefined }), plainBody);
  t.strictSame(toErrorBody(at('get1', '4XX')), problemBody);
  t.strictSame(toErrorBody({ ...at('get1'), reply: undefined }), problemBody);
  t.strictSame(toErrorBody(at('get1', 'default')), { failed: true });
  t.strictSame(toErrorBody(at('constructor')), plainBody);
  t.strictSame(toErrorBody(FOUND), plainBody);
  t.equal(await saidOf(text, contract.document), '');
});

t.test('a reply that only handlers send has no form: its status is none of the errors of the server', async (t) => {
  const replies = {
    '400': reply(object({ error: string, success: boolean })),
    '449': reply(object({ message: string, success: boolean })),
  };
  const contract = await load(t, contractOf(replies));
  const text = buildErrorsFile(contract);
  t.notMatch(text, /449|OTHERS/);
  t.equal(await saidOf(text, contract.document), '');
});

t.test('one form for all, and a contract that describes no error, need no table', async (t) => {
  const one = await load(t, contractOf({ '400': reply(object({ message: string })) }));
  t.match(buildErrorsFile(one), 'export const toErrorBody = ({ message }: OwnError): OwnErrorBody => ({ message });\n');
  t.equal(await saidOf(buildErrorsFile(one), one.document), '');
  const none = await load(t, contractOf({}));
  t.match(buildErrorsFile(none), '({ code, message, status, problems }: OwnError): OwnErrorBody =>\n');
  t.equal(await saidOf(buildErrorsFile(none), none.document), '');
});

t.test('an error that nobody can fill is refused, with what would help', async (t) => {
  const deep = (depth: number): Json => (depth === 0 ? string : object({ a: deep(depth - 1) }));
  const unknown = [
    ...[
      false,
      deep(9),
      object({ key: { ...string, pattern: '^x{77}$' } }),
      object({ list: list(false, { minItems: 1 }) }),
    ],
    ...[object({ size: { ...integer, minimum: 3, maximum: 9, multipleOf: 7, not: { const: 7 } } }), { anyOf: [false] }],
  ];
  for (const schema of unknown) {
    const file = `${t.testdir({ 'contract.yaml': contractOf({ '400': reply(schema) }) })}/contract.yaml`;
    const { rows } = await judge(file);
    const advice = 'give the schema of the error an example that fits: the first src/errors.ts has it';
    t.match(rows, [
      {
        problems: [
          { problem: /contract\.yaml:\d+:\d+: response 400: what toErrorBody in src\/errors\.ts makes of/, advice },
        ],
      },
    ]);
  }
});
