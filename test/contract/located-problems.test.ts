import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { checkOperations } from '../../src/contract-first/contract/checks/checked-operations.ts';
import { finishFile } from '../../src/contract-first/contract/finish.ts';
import { toLocated as toLocatedIn } from '../../src/contract-first/contract/located-problems.ts';
import { loadContract } from '../../src/contract-first/contract/read/load-contract.ts';
import type { ContractError } from '../../src/contract-first/engine/contract/contract.ts';
import type { ContractProblem } from '../../src/contract-first/engine/schema/json.ts';

const OWN = { toErrorBody: () => ({}) as never, domain: {}, handlers: {} };

/** The problems of a contract, with their positions in this text. The messages call the contract by this name. */
function toLocated(t: Test, problems: ContractProblem[], text: string, name = 'a.yaml'): Promise<string[]> {
  const folder = t.testdir({ 'contract.yaml': text });
  return toLocatedIn(problems, `${folder}/contract.yaml`, name);
}

const YAML = `openapi: 3.1.1
servers:
  - url: /v1
paths:
  /pets:
    summary: Pets
    post:
      operationId: createPet
      parameters:
        - { name: a, in: query }
      requestBody: {}
      responses:
        "201": {}
components:
  securitySchemes:
    digest: {}
`;

t.test('a problem of a contract is reported with its line and column', async (t) => {
  const locate = (words: string, pointer?: string) => toLocated(t, [{ words, pointer }], YAML, 'openapi/petstore.yaml');
  for (const [place, problem, pointer] of [
    ['7:5', 'operation createPet: TRACE is not served', '/paths/~1pets/post'],
    [
      '11:7',
      'operation createPet: its body: a form needs a schema',
      '/paths/~1pets/post/requestBody/content/text~1plain/schema',
    ],
    [
      '11:7',
      'operation createPet: request.body: pattern \\A: \\A means nothing',
      '/paths/~1pets/post/requestBody/schema/pattern',
    ],
    [
      '13:9',
      'operation createPet: response 201: body: is int64 in one alternative and not in another',
      '/paths/~1pets/post/responses/201/content/application~1json/schema',
    ],
    [
      '12:7',
      'operation createPet: response 404: header A is required, and not sent',
      '/paths/~1pets/post/responses/404/headers/A',
    ],
    [
      '10:11',
      'operation createPet: parameter a: style pipeDelimited needs an array of simple values, and no explode: true',
      '/paths/~1pets/post/parameters/a',
    ],
    ['5:3', 'path /pets: $ref #/components/pathItems/pets is not in this document', '/paths/~1pets/$ref'],
    [
      '10:11',
      '#/paths/~1pets/post/parameters/0: x-max-bytes means nothing here',
      '/paths/~1pets/post/parameters/0/x-max-bytes',
    ],
    ['9:7', '/paths/~1pets/post/parameters/7 must be object', '/paths/~1pets/post/parameters/7'],
    ['16:5', 'security scheme digest: only bearer tokens', '/components/securitySchemes/digest'],
    ['2:1', 'servers: /v%201 cannot be the path prefix of the operations', '/servers'],
    ['1:1', 'openapi: 3.2.0 is not supported', '/openapi'],
    ['1:1', 'operation none: has no name'],
    ['1:1', 'it has changed'],
  ]) {
    t.strictSame(await locate(problem as string, pointer), [`openapi/petstore.yaml:${place}: ${problem}`]);
  }
  t.strictSame(await locate('line 3, column 10: Unresolved tag: !Ref'), [
    'openapi/petstore.yaml:3:10: Unresolved tag: !Ref',
  ]);
  t.strictSame(await toLocated(t, [{ words: 'it is empty' }], ''), ['a.yaml:1:1: it is empty']);
});

const SHARED = `openapi: 3.1.1
security: [{ key: [] }]
paths:
  "/teams/{team-id}":
    parameters:
      - $ref: "#/components/parameters/team"
    get:
      responses: &replies
        "200":
          headers: { X-Count: { schema: { type: integer } } }
          links: { next: { operationId: none } }
          content:
            application/json:
              schema:
                allOf:
                  - { type: object }
                  - $ref: "#/components/schemas/Team"
    put:
      operationId: putTeam
      security: [{ other: [] }]
      x-sunset: never
      requestBody:
        content:
          application/json: { schema: { $ref: "#/components/schemas/Team" } }
      responses: *replies
    post:
      operationId: put team
      parameters:
        - $ref: "#/components/parameters/none"
        - $ref: "#/components/parameters/%"
      requestBody:
        required: true
        content:
          text/csv: { schema: { type: string } }
          text/plain: { schema: { type: string } }
components:
  parameters:
    team: { $ref: "#/components/parameters/teamId" }
    teamId: { name: team-id, in: path, required: true, schema: { type: string } }
    circle: { $ref: "#/components/parameters/circle" }
  schemas:
    Team:
      properties:
        name:
          type: string
          pattern: "^(a+)+$"
        members:
          type: array
          items: { type: strin }
      required: [none]
      allOf: [{ $ref: "#/components/schemas/Team" }]
`;

const TEAM = '/paths/~1teams~1{team_id}';

t.test('a problem behind a $ref, a YAML alias or an allOf is reported with its line and column', async (t) => {
  for (const [place, problem, pointer] of [
    [
      '39:5',
      'operation getTeamsByTeamId: parameter team_id: style matrix is not supported',
      `${TEAM}/get/parameters/team_id`,
    ],
    [
      '10:22',
      'operation getTeamsByTeamId: response 200: header x-count is sent as a, but it must be integer',
      `${TEAM}/get/responses/200/headers/x-count`,
    ],
    [
      '11:20',
      'operation getTeamsByTeamId: response 200: link next: there is no operation none',
      `${TEAM}/get/responses/200/links/next`,
    ],
    [
      '47:9',
      'operation getTeamsByTeamId: response 200: body.members: is int64 in one alternative and not in another',
      `${TEAM}/get/responses/200/content/application~1json/schema/members`,
    ],
    [
      '49:20',
      'operation putTeam: response 200: body.members.items: type must be one of array, string',
      `${TEAM}/put/responses/200/content/application~1json/schema/members/items/type`,
    ],
    [
      '42:5',
      'operation putTeam: request.body: requires none, but no properties declare it',
      `${TEAM}/put/requestBody/content/application~1json/schema`,
    ],
    ['20:7', 'operation putTeam: security: other is not in components.securitySchemes', `${TEAM}/put/security`],
    ['21:7', 'operation putTeam: x-sunset is not a date', `${TEAM}/put/x-sunset`],
    [
      '46:11',
      'operation putTeam: the pattern ^(a+)+$ takes so long for some short texts',
      `${TEAM}/put/requestBody/content/application~1json/schema/name/pattern`,
    ],
    [
      '46:11',
      'operation putTeam: request.body.name: Invalid regular expression: /^(a+)+$/: Nothing to repeat',
      `${TEAM}/put/requestBody/content/application~1json/schema/name/pattern`,
    ],
    [
      '29:11',
      'operation postTeamsByTeamId: $ref #/components/parameters/none is not in this document',
      `${TEAM}/post/parameters/0/$ref`,
    ],
    [
      '31:7',
      'operation postTeamsByTeamId: request.body: required must be array',
      `${TEAM}/post/requestBody/schema/required`,
    ],
    ['28:7', 'operation postTeamsByTeamId: parameter none: in cookie is not supported', `${TEAM}/post/parameters/none`],
    ['44:9', 'schema Team: field name: allows texts other than instants', '/components/schemas/Team/name'],
    ['40:5', '/components/parameters/circle/name must be string', '/components/parameters/circle/name'],
    ['43:7', 'schema Team: field none: is not there', '/components/schemas/Team/properties/none'],
    ['42:5', 'schema Team: field none: is not there', '/components/schemas/Team/none'],
    ['1:1', 'openapi: is a text', '/openapi/version'],
    ['51:17', 'schema Team: a reference', '/components/schemas/Team/allOf/0/$ref'],
    ['50:7', '/components/schemas/Team/required/one must be string', '/components/schemas/Team/required/one'],
  ]) {
    t.strictSame(await toLocated(t, [{ words: problem as string, pointer }], SHARED), [`a.yaml:${place}: ${problem}`]);
  }
});

const CIRCLE = `openapi: 3.1.1
paths:
  /v1/a:list:
    get:
      operationId: a
      parameters: [
        { name: b:c, in: query }]
      responses:
        "200":
          content:
            application/json: { schema: { $ref: "#/components/schemas/A" } }
components:
  schemas:
    A:
      $ref: "#/components/schemas/A/allOf/0/allOf/0"
      allOf: [{ $ref: "#/components/schemas/A" }]
`;

t.test('a problem is reported with a line and column even if references form a cycle', async (t) => {
  t.match(
    await toLocated(
      t,
      [{ words: 'body.x: must be text', pointer: '/paths/~1v1~1a:list/get/responses/200/schema/x' }],
      CIRCLE,
    ),
    [/^a.yaml:\d+:\d+: /],
  );
});

t.test('a problem is reported with its line and column even if a path or a name contains a colon', async (t) => {
  for (const [place, problem, pointer] of [
    ['4:5', '#/paths/~1v1~1a:list/get: x-max-bytes means nothing here', '/paths/~1v1~1a:list/get/x-max-bytes'],
    ['5:7', '/paths/~1v1~1a:list/get/operationId must be string', '/paths/~1v1~1a:list/get/operationId'],
    ['7:9', 'operation a: parameter b:c: style matrix is not supported', '/paths/~1v1~1a:list/get/parameters/b:c'],
  ]) {
    t.strictSame(await toLocated(t, [{ words: problem as string, pointer }], CIRCLE), [`a.yaml:${place}: ${problem}`]);
  }
});

t.test('a mistake in a schema that several operations use is reported once, with the number of repeats', async (t) => {
  const pattern = 'pattern \\A: \\A means nothing in JavaScript: write ^';
  const problems = [
    { words: `operation putTeam: request.body.name: ${pattern}`, pointer: `${TEAM}/put/requestBody/name/pattern` },
    {
      words: `operation putTeam: response 200: body.name: ${pattern}`,
      pointer: `${TEAM}/put/responses/200/name/pattern`,
    },
    {
      words: 'operation putTeam: security: other is not in components.securitySchemes',
      pointer: `${TEAM}/put/security`,
    },
    {
      words: `operation getTeamsByTeamId: response 200: body.name: ${pattern}`,
      pointer: `${TEAM}/get/responses/200/name/pattern`,
    },
  ];
  t.strictSame(await toLocated(t, problems, SHARED), [
    `a.yaml:46:11: operation putTeam: request.body.name: ${pattern} (and 2 more like it)`,
    'a.yaml:20:7: operation putTeam: security: other is not in components.securitySchemes',
  ]);
});

t.test('if a contract cannot be served, the error names the file, line and column of each problem', async (t) => {
  const folder = t.testdir({ 'a.yaml': SHARED });
  const file = pathToFileURL(`${folder}/a.yaml`);
  const name = relative(process.cwd(), `${folder}/a.yaml`);
  await t.rejects(finishFile(file, OWN), {
    message: `The contract cannot be served:\n  - ${name}:1:1: / needs info`,
  });
  await t.rejects(finishFile(pathToFileURL(`${folder}/none.yaml`), OWN), { code: 'ENOENT' });
});

/** A contract whose problems are behind references, in a part of an `allOf`, and in one of two media types. */
const toBooks = (style: string, field: string, type: string) => `openapi: 3.1.1
info: { title: Books, version: "1" }
paths:
  "/books/{book-id}":
    parameters:
      - { name: book-id, in: path, required: true, ${style}schema: { type: string } }
    get:
      responses:
        "200":
          description: The book.
          content:
            text/plain: { schema: { type: string } }
            application/json; charset=utf-8:
              schema:
                allOf:
                  - { type: object, properties: { title: { type: string } } }
                  - properties: { author: { type: string, patern: ^A } }
    patch:
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Note" } } } }
      responses: { "204": { description: Done., content: { ${type}: {} } } }
components:
  schemas:
    Note:
      properties:
        text: { type: string }
        list: ${field}
`;

t.test('the reported line and column are those of the wrong keyword, even behind a $ref or in an allOf', async (t) => {
  for (const [style, field, type, problems] of [
    [
      'style: matrix, ',
      '{ $ref: "#/components/schemas/None" }',
      'image/png',
      [
        '26:17: operation patchBooksByBookId: $ref #/components/schemas/None is not in this document',
        '6:52: operation getBooksByBookId: parameter book_id: style matrix is not supported',
      ],
    ],
    [
      '',
      '{}',
      'image/*',
      ['20:60: operation patchBooksByBookId: response 204: image/* is not a media type, such as application/json'],
    ],
    [
      '',
      '{ type: string, default: 1 }',
      'image/png',
      [
        '17:59: operation getBooksByBookId: response 200: body.allOf.1.author: strict mode: unknown keyword: "patern"',
        '26:31: operation patchBooksByBookId: its body.list: default does not fit its own schema: it must be of type string',
      ],
    ],
  ] as const) {
    const text = toBooks(style, field, type);
    const file = `${t.testdir({ 'books.yaml': text })}/books.yaml`;
    const error = await loadContract(file)
      .then((contract) => checkOperations({ ...contract, isStrict: true }, OWN))
      .catch((thrown: ContractError) => thrown);
    t.strictSame(
      await toLocatedIn((error as ContractError).found, file, 'a.yaml'),
      problems.map((problem) => `a.yaml:${problem}`),
    );
  }
});
