/**
 * A contract in any style has lint errors only for real mistakes. A redocly.yaml next to the contract adds rules of
 * style.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { stringify } from 'yaml';
import { release } from '../../../src/contract-first/cli/diff/diff.ts';
import { lint } from '../../../src/contract-first/cli/lint/lint.ts';
import type { Json } from '../../any-json.ts';
import { fileOf, OTHERS } from '../../other-contracts.ts';
import { NODE_ARGS } from '../../program.ts';

const SCRIPT = fileURLToPath(new URL('../../../src/contract-first/cli/main.ts', import.meta.url));

const string = { type: 'string' };

/** Returns a contract in another team's style: errors of RFC 9457, no tags, no descriptions, ids in snake_case. */
function contractOf(edit: (contract: Json) => unknown = () => {}): string {
  const problem = { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } };
  const book = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Book' } } } };
  const contract = {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1.0.0' },
    servers: [{ url: 'https://example.com/api/' }],
    paths: {
      '/books': {
        post: {
          operationId: 'add_book',
          requestBody: { content: book.content },
          responses: { '200': { description: 'Added.', ...book }, '4XX': { description: 'No.', ...problem } },
        },
      },
    },
    components: {
      schemas: {
        Problem: { type: 'object', properties: { title: string, status: { type: 'integer' } } },
        Book: { type: 'object', properties: { title: { ...string, example: 'Emma' }, tags: { type: 'array' } } },
      },
    },
  };
  edit(contract);
  return stringify(contract);
}

const PLUGIN = `import { writeFileSync } from 'node:fs';
writeFileSync(new URL('ran.txt', import.meta.url), '');
export default () => ({ id: 'theirs', rules: { oas3: { never: () => ({}) } } });
`;

async function lintIn(t: Test, files: Record<string, string>) {
  return lint([`${t.testdir(files)}/contract.yaml`]);
}

t.test('`lint` finds no errors in third-party contracts, and warns of replies that they do not declare', async (t) => {
  const { text, hasErrors } = await lintIn(t, { 'contract.yaml': contractOf() });
  t.equal(hasErrors, false, text);
  t.match(text, /^ {2}\S+contract\.yaml:\d+:\d+ {2}warn {2}contract-first\/declared-replies {2}operation add_book: /m);
  for (const name of Object.keys(OTHERS)) {
    const result = await lint([fileOf(name)]);
    t.notMatch(result.text, / {2}error {2}/, name);
    t.equal(result.hasErrors, false);
  }
});

t.test('`lint` exits with 0 for a contract that causes only warnings', async (t) => {
  const file = `${t.testdir({ 'contract.yaml': contractOf() })}/contract.yaml`;
  const { status, stdout } = spawnSync(process.execPath, [...NODE_ARGS, SCRIPT, 'lint', file], { encoding: 'utf8' });
  t.match({ status, stdout }, { status: 0, stdout: / warn / });
});

t.test('`lint` reports a wrong example, field, security scheme or $ref as an error in any contract', async (t) => {
  const edits: [words: RegExp, edit: (contract: Json) => unknown][] = [
    [/does not fit its schema/, ({ components }) => (components.schemas.Book.properties.title.example = 7)],
    [/`summery` is not expected/, ({ paths }) => (paths['/books'].post.summery = 'Adds.')],
    [/no operation|security/, ({ paths }) => (paths['/books'].post.security = [{ none: [] }])],
    [/Can't resolve/, ({ components }) => (components.schemas.Book.properties.more = { $ref: '#/none' })],
  ];
  for (const [words, edit] of edits) {
    const { text, hasErrors } = await lintIn(t, { 'contract.yaml': contractOf(edit) });
    t.match(text, words);
    t.ok(hasErrors, text);
  }
});

t.test('a redocly.yaml next to the contract can add rules to `lint` and change the built-in rules', async (t) => {
  const contract = contractOf(({ components }) => (components.schemas.Book.properties.title.example = 7));
  const rules = (text: string) => lintIn(t, { 'contract.yaml': contract, 'redocly.yaml': text });
  t.match(await rules('extends: [recommended]'), { text: /error +operation-summary/, hasErrors: true });
  t.match(await rules('rules: { operation-summary: error }'), { text: /error +operation-summary/ });
  const off = 'rules: { contract-first/examples: off, contract-first/declared-replies: off }';
  t.strictSame(await rules(off), { text: '', hasErrors: false });
  t.match(await rules('rules: { contract-first/declared-replies: error, contract-first/examples: off }'), {
    text: /error {2}contract-first\/declared-replies/,
    hasErrors: true,
  });
  t.match(await rules('rules: { contract-first/integer-formats: error, contract-first/examples: off }'), {
    text: /An integer must have a format/,
  });
});

t.test('`lint` warns of an unknown rule or severity in redocly.yaml, even in rules of a plugin', async (t) => {
  const lines = [
    'operation-sumary: error',
    'theirs/neverr: error',
    'contract-first/integer-formts: error',
    'info-contact: eror',
  ];
  const files = {
    'contract.yaml': contractOf(),
    'plugin.mjs': PLUGIN,
    'redocly.yaml': `plugins: [plugin.mjs]\nrules:\n  theirs/never: error\n  ${lines.join('\n  ')}\noas3_1Rules:\n  contract-first/link: off\n`,
  };
  const { text, hasErrors } = await lintIn(t, files);
  t.equal(hasErrors, false, text);
  const warned = [...text.matchAll(/^ {2}(\d+):\d+ {2}warn {2}configuration spec {2}(.*)$/gm)].map(
    ([, line, words]) => [line, words],
  );
  t.strictSame(
    warned.toSorted(([one], [other]) => Number(one) - Number(other)),
    [
      ['4', 'Property `operation-sumary` is not expected here.'],
      ['5', 'There is no rule `theirs/neverr`.'],
      ['6', 'There is no rule `contract-first/integer-formts`.'],
      ['7', '`info-contact` can be one of the following only: "error", "warn", "off".'],
      ['9', 'There is no rule `contract-first/link`.'],
    ],
  );
  t.match(text, /^\S+redocly\.yaml:$/m);
  const wrong = contractOf(({ components }) => (components.schemas.Book.properties.title.example = 7));
  t.match(await lintIn(t, { ...files, 'contract.yaml': wrong }), { text: /operation-sumary/, hasErrors: true });
  t.match(
    await lintIn(t, {
      ...files,
      'extended.yaml': 'rules: { theirs/unknown: warn }',
      'redocly.yaml': 'extends: [extended.yaml]',
    }),
    {
      text: /redocly\.yaml:\n {2}1:1 {2}warn {2}configuration spec {2}There is no rule `theirs\/unknown`\.$/m,
    },
  );
});

t.test('`lint` accepts an OpenAPI 3.0 example that is null or omits read-only or write-only fields', async (t) => {
  const contract = contractOf((contract) => {
    contract.openapi = '3.0.3';
    const { Book } = contract.components.schemas;
    delete Book.properties.tags;
    Object.assign(Book, { required: ['id', 'title'], example: { title: null } });
    Object.assign(Book.properties, {
      id: { type: 'integer', minimum: 0, exclusiveMinimum: true, readOnly: true },
      title: { ...string, nullable: true },
    });
  });
  t.equal((await lintIn(t, { 'contract.yaml': contract })).hasErrors, false);
});

t.test('`lint` accepts an example with an externalValue, and does not check its value', async (t) => {
  const contract = contractOf(({ paths }) => {
    const { content } = paths['/books'].post.responses['200'];
    content['application/json'].examples = { one: { externalValue: 'https://books.example/one.json' } };
  });
  t.equal((await lintIn(t, { 'contract.yaml': contract })).hasErrors, false);
});

t.test('`contract:release` ignores rules of style, and fails for a contract with mistakes', async (t) => {
  const strict = 'extends: [recommended-strict]\nrules: { contract-first/declared-replies: error }';
  const folder = t.testdir({ 'contract.yaml': contractOf(), 'redocly.yaml': strict });
  const releaseIt = () => release(`${folder}/contract.yaml`, `${folder}/released`);
  t.match(await releaseIt(), /1\.0\.0\.yaml$/);
  const broken = contractOf(({ info, components }) => {
    info.version = '1.0.1';
    components.schemas.Book.properties.title.example = 7;
  });
  writeFileSync(`${folder}/contract.yaml`, broken);
  await t.rejects(releaseIt(), { message: /does not fit its schema/ });
});

t.test('`lint` runs the plugins in redocly.yaml; `inspect` and `new` never run them', async (t) => {
  const { name, version } = JSON.parse(readFileSync('src/contract-first/package.json', 'utf8'));
  const prepare = () =>
    t.testdir({
      'redocly.yaml': 'plugins: [plugin.mjs]\nrules: { theirs/never: error }',
      'plugin.mjs': PLUGIN,
      '@theme': { 'plugin.mjs': PLUGIN.replace('theirs', 'theme') },
      'contract.yaml': contractOf(({ components }) => (components.schemas.Book = { $ref: 'book.yaml' })),
      'book.yaml': 'type: object',
      'package.json': JSON.stringify({ dependencies: { [name]: version } }),
    });
  const folder = prepare();
  const hasRun = () => existsSync(`${folder}/ran.txt`) || existsSync(`${folder}/@theme/ran.txt`);
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [...NODE_ARGS, SCRIPT, ...args], { encoding: 'utf8', cwd: folder });
  const inspected = run('inspect', 'contract.yaml', '--write', 'out.yaml');
  t.match(inspected.stdout, /The contract is written to out\.yaml/, inspected.stderr);
  t.notOk(hasRun(), 'inspect does not run the plugin');
  t.match(run('lint', 'contract.yaml').stdout, /contract-first/);
  t.ok(hasRun(), 'lint runs the plugin');
});
