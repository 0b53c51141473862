/** A contract in several files: the tools and the server bundle it into one. */
import { execFileSync } from 'node:child_process';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { judgeContract } from '../../src/contract-first/cli/diff/gate.ts';
import { withFixes } from '../../src/contract-first/cli/inspect/files.ts';
import { inspectContract } from '../../src/contract-first/cli/inspect/inspect.ts';
import { lint } from '../../src/contract-first/cli/lint/lint.ts';
import { finishFile } from '../../src/contract-first/contract/finish.ts';
import { SIZE_LIMIT } from '../../src/contract-first/contract/read/file-references.ts';
import { readSource } from '../../src/contract-first/contract/read/source.ts';
import { lookUp } from '../../src/contract-first/engine/schema/keys.ts';
import type { Json } from '../any-json.ts';

/** Returns a contract with a reply of this schema. */
const contractWith = (schema: string, more = '') => `openapi: 3.1.0
info: { title: Other, version: '1' }
paths:
  /pets: { $ref: paths/pets.yaml }
  /a:
    get:
      operationId: find
      responses:
        '200':
          description: Found.
          content:
            application/json:
              schema: ${schema}
${more}`;

const FILES = {
  paths: {
    'pets.yaml': `get:
  operationId: list
  responses:
    '200':
      description: Found.
      content: { application/json: { schema: { $ref: ../schemas.json#/Pet } } }
`,
  },
  'schemas.json': `{ "Pet": { "properties": { "id": { "maximum": 9223372036854775807 }, "parent": { "$ref": "#/Pet" } } } }`,
  'broken.yaml': 'a: [',
};

async function fixedIn(t: Test, text: string, source?: string) {
  const folder = t.testdir({ ...FILES, 'other.yaml': text });
  const file = `${folder}/other.yaml`;
  const read = async (made: string, changes: string[]) => ({
    document: JSON.parse((await readSource(made)).json),
    json: (await readSource(made)).json,
    changes,
  });
  const made = await withFixes(file, read, source ?? file);
  return { ...made, changes: made.changes.map((change) => change.replaceAll(`${folder}/`, '')) };
}

t.test('bundling replaces a $ref to a file by a $ref to a component, and keeps every digit', async (t) => {
  const { document, json, changes } = await fixedIn(t, contractWith('{ $ref: schemas.json#/Pet }'));
  t.strictSame(changes, ['other.yaml: paths/pets.yaml, schemas.json written into it']);
  t.equal(document.paths['/pets'].get.operationId, 'list');
  for (const path of ['~1a', '~1pets']) {
    const at = `#/paths/${path}/get/responses/200/content/application~1json/schema`;
    t.strictSame(lookUp(document, at), { $ref: '#/components/schemas/Pet' });
  }
  t.strictSame(document.components.schemas.Pet.properties.parent, { $ref: '#/components/schemas/Pet' });
  t.match(json, '"maximum":9223372036854775807');
});

t.test(
  'a $ref to a missing file, or to a missing schema in a file, is an error with its line and the reason',
  async (t) => {
    const cases = {
      'nowhere.yaml#/A': /^\S+other\.yaml:13:15: \$ref nowhere\.yaml#\/A: there is no such file$/,
      'schemas.json#/Dog': /:13:15: \$ref schemas\.json#\/Dog: it has no such part$/,
      'broken.yaml': /^\S+broken\.yaml:1:5: Flow sequence [^\n]*$/,
      'https://example.com/a.yaml': /:13:15: \$ref https:\/\/example\.com\/a\.yaml: it is not fetched$/,
    };
    for (const [$ref, message] of Object.entries(cases)) {
      await t.rejects(fixedIn(t, contractWith(`{ $ref: '${$ref}' }`)), { message }, $ref);
    }
  },
);

t.test('a contract may refer only to regular files of limited size below its folder', async (t) => {
  const outer = t.testdir({ 'secret.yaml': 'type: string', inner: { ...FILES, 'large.yaml': '' } });
  const folder = `${outer}/inner`;
  execFileSync('mkfifo', [`${folder}/pipe.yaml`]);
  symlinkSync('../secret.yaml', `${folder}/link.yaml`);
  symlinkSync('/dev/zero', `${folder}/device.yaml`);
  truncateSync(`${folder}/large.yaml`, SIZE_LIMIT + 1);
  const [elsewhere, special] = ['it is not below the folder of the contract', 'it is not a regular file'];
  const cases = {
    ...{ '../secret.yaml': elsewhere, '/etc/hostname': elsewhere, 'link.yaml': elsewhere },
    ...{ '/dev/zero': special, 'device.yaml': special, 'pipe.yaml': special, paths: special, '..': special },
    ...{ 'file:///etc/hostname': 'there is no such file', 'large.yaml': `it has more than ${SIZE_LIMIT} bytes` },
  };
  const file = `${folder}/other.yaml`;
  for (const [$ref, reason] of Object.entries(cases)) {
    const words = `\\$ref ${$ref}: ${reason}`;
    writeFileSync(file, contractWith(`{ $ref: '${$ref}' }`));
    await t.rejects(
      withFixes(file, async () => {}),
      { message: new RegExp(`:13:15: ${words}$`) },
    );
    t.match((await lint([file])).text, `other.yaml:13:15: $ref ${$ref}: ${reason}`, $ref);
    const mapping = `{ oneOf: [{ $ref: '#/components/schemas/A' }], discriminator: { propertyName: a, mapping: { a: '${$ref}' } } }`;
    writeFileSync(file, contractWith(mapping, 'components: { schemas: { A: { type: object } } }'));
    t.match((await lint([file])).text, 'other.yaml:');
  }
  symlinkSync(file, `${outer}/contract.yaml`);
  await t.rejects(
    withFixes(`${outer}/contract.yaml`, async () => {}),
    { message: /there is no such file$/ },
  );
});

t.test('a $ref in a field or reply with the name example is resolved, because it is not in an example', async (t) => {
  const inField = contractWith('{ properties: { example: { $ref: nowhere.yaml } } }');
  const inReply = contractWith('{ $ref: nowhere.yaml }').replace("'200'", 'default');
  for (const text of [inField, inReply]) await t.rejects(fixedIn(t, text), { message: /\$ref nowhere\.yaml: / });
});

t.test('bundling removes an example or unused component whose $ref cannot be resolved', async (t) => {
  const more = `              example: { $ref: nowhere.yaml }
components: { schemas: { Unused: { $ref: nowhere.yaml } } }
`;
  const { document, changes } = await fixedIn(t, contractWith('{}', more));
  t.match(changes, [/pets\.yaml, schemas\.json written/, /example is taken out/, /Unused is taken out/]);
  t.strictSame(Object.keys(document.components.schemas), ['Pet']);
});

t.test('if a contract is from a URL or is Swagger 2, references to other files are not read', async (t) => {
  const text = contractWith('{ $ref: schemas.json#/Pet }');
  t.strictSame((await fixedIn(t, text, 'https://a/b.yaml')).changes, []);
  t.strictSame((await fixedIn(t, text.replace('openapi: 3.1.0', 'swagger: "2.0"'))).changes, []);
});

t.test('if a contract consists of many files, the list of changes names three and counts the others', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const files = Object.fromEntries(names.map((name) => [`${name}.json`, '{"type":"string"}']));
  const schema = `{ anyOf: [${names.map((name) => `{ $ref: ${name}.json }`).join(', ')}] }`;
  const folder = t.testdir({ ...files, 'other.yaml': contractWith(schema).replace(/^.*pets.*\n/m, '') });
  const [reported] = await withFixes(`${folder}/other.yaml`, async (_, changes) => changes);
  t.equal(reported?.replaceAll(`${folder}/`, ''), 'other.yaml: a.json, b.json, c.json, 2 more written into it');
});

const OWN = { toErrorBody: () => ({}) as never, domain: {}, handlers: { list: 1, find: 1 } };

const SCHEMAS = `Pet:
  type: object
  properties:
    id: { type: integer, maximum: 9223372036854775807 }
    tags:
      type: array
      items: { $ref: "#/Tag" }
Tag:
  type: string
`;

/** Writes a contract in several files, with this text as its file of schemas. */
function prepare(t: Test, schemas: string, text = contractWith('{ $ref: schemas.yaml#/Pet }')) {
  const paths = { 'pets.yaml': FILES.paths['pets.yaml'].replace('../schemas.json', '../schemas.yaml') };
  const folder = t.testdir({ paths, 'schemas.yaml': schemas, 'other.yaml': text, released: {} });
  return { folder, file: `${folder}/other.yaml` };
}

t.test('a contract in several files is served and released as one file, with every digit of its numbers', async (t) => {
  const { file, folder } = prepare(t, SCHEMAS);
  const { file: finished, yaml } = await finishFile(pathToFileURL(file), OWN);
  t.match(yaml.toString(), /maximum: 9223372036854775807$/m);
  t.strictSame(parse(yaml.toString()), JSON.parse(finished.json));
  t.strictSame(Object.keys(JSON.parse(finished.json).components.schemas), ['Tag', 'Pet']);
  t.equal((await judgeContract(file, `${folder}/released`, {})).version, '1');
  writeFileSync(`${folder}/schemas.yaml`, SCHEMAS.replace('type: string', 'type: boolean'));
  const { file: changed } = await finishFile(pathToFileURL(file), OWN);
  t.not(changed.sha256, finished.sha256, 'a change of any file changes the digest of the contract');
});

t.test("if one of a contract's files has a mistake, the errors name this file and the line", async (t) => {
  for (const [line, schemas] of [
    ['4:11', SCHEMAS.replace('type: integer', 'type: whole')],
    ['4:21', SCHEMAS.replace('type: integer', 'allOf: [{ type: whole }]')],
    ['7:7', SCHEMAS.replace('type: array', 'type: array\n      minItems: -1')],
    ['9:3', SCHEMAS.replace('type: string', 'pattern: "("')],
    ['7:16', SCHEMAS.replace('"#/Tag"', '"#/None"')],
  ] as const) {
    const { file, folder } = prepare(t, schemas);
    const name = relative(process.cwd(), folder);
    const reported = await finishFile(pathToFileURL(file), OWN).catch(({ message }: Error) => message);
    t.match(reported, `${name}/schemas.yaml:${line}: `);
    t.match((await inspectContract(file)).text, `${folder}/schemas.yaml:${line}: `);
    t.match((await lint([file])).text, new RegExp(`${folder}/schemas\\.yaml:((\\n.*)*\\n  )?${line.split(':')[0]}:`));
  }
});

t.test('if the main file of a contract is not YAML, the error names the file, line and column', async (t) => {
  const { file } = prepare(t, SCHEMAS, `${contractWith('{ $ref: schemas.yaml#/Pet }')}more: [`);
  await t.rejects(finishFile(pathToFileURL(file), OWN), { message: /other\.yaml:14:8: Flow sequence/ });
});

t.test('a $ref to a file with a space in its name is written with %20, because a $ref is a URI', async (t) => {
  const schema = (type: string) => `{ type: ${type} }`;
  const folder = t.testdir({
    'other.yaml': contractWith(
      '{ properties: { a: { $ref: My%20Tag.yaml }, b: { $ref: "All%20Tags.yaml#/One" } } }',
    ).replace('  /pets: { $ref: paths/pets.yaml }\n', ''),
    'My Tag.yaml': schema('string'),
    'All Tags.yaml': `One: ${schema('integer')}`,
  });
  const { json } = await readSource(`${folder}/other.yaml`);
  const { paths, components } = JSON.parse(json);
  const targetOf = (node: { $ref?: string }) => (node.$ref ? lookUp({ components }, node.$ref) : node) as Json;
  const { properties } = targetOf(paths['/a'].get.responses['200'].content['application/json'].schema);
  const types = Object.values<{ $ref?: string }>(properties).map((one) => targetOf(one).type);
  t.strictSame(types, ['string', 'integer']);
  writeFileSync(`${folder}/none.yaml`, contractWith('{ $ref: No%00.yaml }'));
  await t.rejects(readSource(`${folder}/none.yaml`), /\$ref No%00.yaml: /);
});

t.test(
  'if two files have a schema with the same name, bundling renames one, and a note gives the new name',
  async (t) => {
    const schema = ($ref: string) => `{ content: { application/json: { schema: { $ref: ${$ref} } } }, description: A }`;
    const operationOf = (id: string, $ref: string) =>
      `  /${id}: { get: { operationId: ${id}, responses: { '200': ${schema($ref)} } } }\n`;
    const contractOf = (more: string) =>
      `openapi: 3.1.0\ninfo: { title: T, version: 1.0.0 }\npaths:\n${operationOf('a', 'a/Tag.yaml')}${operationOf('b', 'b/Tag.yaml')}${more}`;
    const folder = t.testdir({
      'contract.yaml': contractOf(''),
      'broken.yaml': contractOf(operationOf('c', 'none.yaml')),
      a: { 'Tag.yaml': 'type: string' },
      b: { 'Tag.yaml': 'type: integer' },
    });
    const { text } = await inspectContract(`${folder}/contract.yaml`);
    t.match(
      text,
      `changed: ${folder}/contract.yaml: schema Tag of another file is written as Tag-2: two files have a schema Tag, and they differ\n`,
    );
    const broken = await inspectContract(`${folder}/broken.yaml`).catch(({ message }: Error) => ({ text: message }));
    t.match(broken.text, /none\.yaml: there is no such file/);
    t.notMatch(broken.text, 'Renamed');
  },
);
