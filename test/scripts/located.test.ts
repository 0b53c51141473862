import t from 'tap';
import { buildToLocated } from '../../scripts/located.ts';

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

t.test('a problem is told with the line and the column of what it is about', async (t) => {
  const toLocated = buildToLocated(YAML, 'openapi/petstore.yaml');
  for (const [place, problem] of [
    ['7:5', 'operation createPet: security: a is not in components.securitySchemes'],
    ['11:7', 'operation createPet: its body: a form needs a schema'],
    ['11:7', 'operation createPet: request.body: pattern \\A: \\A means nothing'],
    ['13:9', 'operation createPet: response 201: body: is int64 in one alternative and not in another'],
    ['12:7', 'operation createPet: response 404: header A is required, and not sent'],
    ['5:3', 'path /pets: $ref #/components/pathItems/pets is not in this document'],
    ['10:11', '#/paths/~1pets/post/parameters/0: x-max-bytes means nothing here'],
    ['9:7', '/paths/~1pets/post/parameters/7 must be object'],
    ['16:5', 'security scheme digest: only bearer tokens'],
    ['2:1', 'servers: /v%201 cannot be the path before that of each operation'],
    ['1:1', 'openapi: 3.2.0 is not supported'],
    ['1:1', 'operation none: has no name'],
    ['1:1', 'it has changed'],
  ]) {
    t.equal(toLocated(problem as string), `openapi/petstore.yaml:${place}: ${problem}`);
  }
  t.equal(toLocated('line 3, column 10: Unresolved tag: !Ref'), 'openapi/petstore.yaml:3:10: Unresolved tag: !Ref');
  t.equal(buildToLocated('', 'a.yaml')('it is empty'), 'a.yaml:1:1: it is empty');
});
