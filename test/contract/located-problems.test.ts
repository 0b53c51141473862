import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { finishFile } from '../../src/contract-first/contract/finish.ts';
import { toLocated as toLocatedIn } from '../../src/contract-first/contract/located-problems.ts';

const OWN = { toErrorBody: () => ({}) as never, domain: {}, handlers: {} };

/** The problems of a contract with this text, which is known by a name. */
function toLocated(t: Test, problems: string[], text: string, name = 'a.yaml'): Promise<string[]> {
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

t.test('a problem is reported with its line and column', async (t) => {
  const locate = (problem: string) => toLocated(t, [problem], YAML, 'openapi/petstore.yaml');
  for (const [place, problem] of [
    ['7:5', 'operation createPet: TRACE is not served'],
    ['11:7', 'operation createPet: its body: a form needs a schema'],
    ['11:7', 'operation createPet: request.body: pattern \\A: \\A means nothing'],
    ['13:9', 'operation createPet: response 201: body: is int64 in one alternative and not in another'],
    ['12:7', 'operation createPet: response 404: header A is required, and not sent'],
    [
      '10:11',
      'operation createPet: parameter a: style pipeDelimited needs an array of simple values, and no explode: true',
    ],
    ['5:3', 'path /pets: $ref #/components/pathItems/pets is not in this document'],
    ['10:11', '#/paths/~1pets/post/parameters/0: x-max-bytes means nothing here'],
    ['9:7', '/paths/~1pets/post/parameters/7 must be object'],
    ['16:5', 'security scheme digest: only bearer tokens'],
    ['2:1', 'servers: /v%201 cannot be the path before that of each operation'],
    ['1:1', 'openapi: 3.2.0 is not supported'],
    ['1:1', 'operation none: has no name'],
    ['1:1', 'it has changed'],
  ]) {
    t.strictSame(await locate(problem as string), [`openapi/petstore.yaml:${place}: ${problem}`]);
  }
  t.strictSame(await locate('line 3, column 10: Unresolved tag: !Ref'), [
    'openapi/petstore.yaml:3:10: Unresolved tag: !Ref',
  ]);
  t.strictSame(await toLocated(t, ['it is empty'], ''), ['a.yaml:1:1: it is empty']);
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

t.test('the place is found through references, aliases, and the parts of a schema', async (t) => {
  for (const [place, problem] of [
    ['39:5', 'operation getTeamsByTeamId: parameter team_id: style matrix is not supported'],
    ['10:22', 'operation getTeamsByTeamId: response 200: header x-count is sent as a, but it must be integer'],
    ['11:20', 'operation getTeamsByTeamId: response 200: link next: there is no operation none'],
    ['47:9', 'operation getTeamsByTeamId: response 200: body.members: is int64 in one alternative and not in another'],
    ['49:20', 'operation putTeam: response 200: body.members.items: type must be one of array, string'],
    ['42:5', 'operation putTeam: request.body: requires none, which no properties name'],
    ['20:7', 'operation putTeam: security: other is not in components.securitySchemes'],
    ['21:7', 'operation putTeam: x-sunset is not a date'],
    ['46:11', 'operation putTeam: the pattern ^(a+)+$ takes so long for some short texts'],
    ['46:11', 'operation putTeam: request.body.name: Invalid regular expression: /^(a+)+$/: Nothing to repeat'],
    ['29:11', 'operation postTeamsByTeamId: $ref #/components/parameters/none is not in this document'],
    ['31:7', 'operation postTeamsByTeamId: request.body: required must be array'],
    ['28:7', 'operation postTeamsByTeamId: parameter none: in cookie is not supported'],
    ['44:9', 'schema Team: field name: allows texts other than instants'],
    ['40:5', '/components/parameters/circle/name must be string'],
    ['43:7', 'schema Team: field none: is not there'],
    ['50:7', '/components/schemas/Team/required/one must be string'],
  ]) {
    t.strictSame(await toLocated(t, [problem as string], SHARED), [`a.yaml:${place}: ${problem}`]);
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

t.test('the search for a place ends where references lead to themselves by several ways', async (t) => {
  t.match(await toLocated(t, ['operation a: response 200: body.x: must be text'], CIRCLE), [/^a.yaml:\d+:\d+: /]);
});

t.test('a colon in a path or a name is part of it', async (t) => {
  for (const [place, problem] of [
    ['4:5', '#/paths/~1v1~1a:list/get: x-max-bytes means nothing here'],
    ['5:7', '/paths/~1v1~1a:list/get/operationId must be string'],
    ['7:9', 'operation a: parameter b:c: style matrix is not supported'],
  ]) {
    t.strictSame(await toLocated(t, [problem as string], CIRCLE), [`a.yaml:${place}: ${problem}`]);
  }
});

t.test('a mistake that several operations share is reported once', async (t) => {
  const pattern = 'pattern \\A: \\A means nothing in JavaScript: write ^';
  const problems = [
    `operation putTeam: request.body.name: ${pattern}`,
    `operation putTeam: response 200: body.name: ${pattern}`,
    'operation putTeam: security: other is not in components.securitySchemes',
    `operation getTeamsByTeamId: response 200: body.name: ${pattern}`,
  ];
  t.strictSame(await toLocated(t, problems, SHARED), [
    `a.yaml:46:11: operation putTeam: request.body.name: ${pattern} (and 2 more like it)`,
    'a.yaml:20:7: operation putTeam: security: other is not in components.securitySchemes',
  ]);
});

t.test('a start that fails because of the contract names the positions in its file', async (t) => {
  const folder = t.testdir({ 'a.yaml': SHARED });
  const file = pathToFileURL(`${folder}/a.yaml`);
  const name = relative(process.cwd(), `${folder}/a.yaml`);
  await t.rejects(finishFile(file, OWN), {
    message: `The contract cannot be served:\n  - ${name}:1:1: / needs info`,
  });
  await t.rejects(finishFile(pathToFileURL(`${folder}/none.yaml`), OWN), { code: 'ENOENT' });
});
