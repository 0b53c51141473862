/** Changes of the contract, one by one, with how clients fare after each: the table that the comparison is tested by. */
import type { Verdict } from '../../scripts/contract-diff/change.ts';
import type { Edit } from '../edited-contract.ts';

const NOTE = { description: 'A note.', type: 'string' };
const QUERY = { name: 'name', in: 'query', description: 'Only this name.', schema: { type: 'string' } };

/** What changes, the edit, how clients fare, and one of the changes that are reported, word for word. */
export const CHANGES: [sentence: string, edit: Edit, verdict: Verdict, reported: string][] = [
  // Operations
  [
    'removing an operation breaks',
    ({ paths }) => delete paths['/pets/{petId}'],
    'breaking',
    'getPet: was removed from GET /pets/{petId}',
  ],
  [
    'adding an operation is compatible',
    ({ paths, getPet }) => {
      paths['/pets/{petId}'].delete = { ...getPet, operationId: 'deletePet' };
    },
    'compatible',
    'deletePet: was added, as DELETE /pets/{petId}',
  ],
  [
    'renaming an operation breaks',
    ({ listPets }) => {
      listPets.operationId = 'listAnimals';
    },
    'breaking',
    'listPets: operationId changed from listPets to listAnimals',
  ],
  [
    'changing the path of an operation breaks',
    ({ paths }) => {
      paths['/animals'] = paths['/pets'];
      delete paths['/pets'];
    },
    'breaking',
    'listPets: was removed from GET /pets',
  ],
  [
    'changing the method of an operation breaks',
    ({ paths }) => {
      paths['/pets'].put = paths['/pets'].post;
      delete paths['/pets'].post;
    },
    'breaking',
    'createPet: was removed from POST /pets',
  ],
  [
    'renaming the tag of an operation breaks',
    ({ contract, listPets }) => {
      contract.tags[0].name = 'animals';
      listPets.tags = ['animals'];
    },
    'breaking',
    'listPets: tags lost pets and gained animals',
  ],
  [
    'giving an operation another tag is compatible',
    ({ listPets }) => listPets.tags.push('lists'),
    'compatible',
    'listPets: tags gained lists',
  ],
  [
    'an extension that no rule knows breaks, to be on the safe side',
    ({ listPets }) => {
      listPets['x-cost'] = 2;
    },
    'breaking',
    'listPets: x-cost 2 was added',
  ],

  // Deprecation
  [
    'deprecating an operation is compatible',
    ({ listPets }) => Object.assign(listPets, { deprecated: true, 'x-sunset': '3000-01-01' }),
    'compatible',
    'listPets: is deprecated, until 3000-01-01',
  ],
  [
    'taking back a deprecation breaks',
    ({ getPet }) => {
      getPet.deprecated = false;
    },
    'breaking',
    'getPet: is no longer deprecated',
  ],
  [
    'an earlier sunset breaks',
    ({ getPet }) => {
      getPet['x-sunset'] = '2999-12-04';
    },
    'breaking',
    'getPet: x-sunset changed from 2999-12-05 to 2999-12-04',
  ],
  [
    'a later sunset is compatible',
    ({ getPet }) => {
      getPet['x-sunset'] = '3000-01-01';
    },
    'compatible',
    'getPet: x-sunset changed from 2999-12-05 to 3000-01-01',
  ],
  [
    'another successor is compatible',
    ({ getPet }) => {
      getPet['x-successor'] = 'findPet';
    },
    'compatible',
    'getPet: x-successor changed from listPets to findPet',
  ],

  // Security and servers
  [
    'another security scheme breaks',
    ({ securitySchemes }) => {
      securitySchemes.bearerAuth.scheme = 'basic';
    },
    'breaking',
    'security scheme bearerAuth: scheme changed from bearer to basic',
  ],
  [
    'asking for a second key breaks',
    ({ contract }) => {
      contract.security = [{ bearerAuth: [], partnerKey: [] }];
    },
    'breaking',
    'createPet: security lost bearerAuth and gained bearerAuth and partnerKey',
  ],
  [
    'asking for a scope breaks',
    ({ listPets }) => {
      listPets.security = [{ bearerAuth: ['read'] }];
    },
    'breaking',
    'listPets: security lost bearerAuth and gained bearerAuth read',
  ],
  [
    'another way in is compatible',
    ({ listPets }) => {
      listPets.security = [{ bearerAuth: [] }, { partnerKey: [] }];
    },
    'compatible',
    'listPets: security gained partnerKey',
  ],
  [
    'opening an operation to everyone is compatible',
    ({ listPets }) => {
      listPets.security = [];
    },
    'compatible',
    'listPets: security lost bearerAuth and gained no key',
  ],
  [
    'letting in whoever has no key is compatible',
    ({ listPets }) => {
      listPets.security = [{ bearerAuth: [] }, {}];
    },
    'compatible',
    'listPets: security gained no key',
  ],
  [
    'another path prefix breaks',
    ({ contract }) => {
      for (const server of contract.servers) server.url = server.url.replace('/v1', '/v2');
    },
    'breaking',
    'servers: path prefix changed from /v1 to /v2',
  ],
  [
    'removing a server breaks',
    ({ contract }) => contract.servers.pop(),
    'breaking',
    'server {staging_origin}: was removed',
  ],
  [
    'adding a server is compatible',
    ({ contract }) => contract.servers.push({ url: 'https://eu.petstore.example/v1' }),
    'compatible',
    'server https://eu.petstore.example: was added',
  ],
  [
    'another default of a server variable breaks',
    ({ contract }) => {
      contract.servers[1].variables.production_origin.default = 'https://pets.example';
    },
    'breaking',
    'server {production_origin}: variable production_origin: default changed from https://petstore.example to https://pets.example',
  ],

  // Parameters
  [
    'a new required parameter breaks',
    ({ listPets }) => listPets.parameters.push({ ...QUERY, required: true }),
    'breaking',
    'listPets: query parameter name: was added, and is required',
  ],
  [
    'a new optional parameter is compatible, also for all operations of a path',
    ({ paths }) => {
      paths['/pets/{petId}'].parameters = [QUERY];
    },
    'compatible',
    'getPet: query parameter name: was added, and is optional',
  ],
  [
    'removing a parameter breaks, since unknown ones are refused',
    ({ listPets }) => listPets.parameters.pop(),
    'breaking',
    'listPets: query parameter after: was removed',
  ],
  [
    'a parameter that becomes required breaks',
    ({ status }) => {
      status.required = true;
    },
    'breaking',
    'listPets: query parameter status: became required',
  ],
  [
    'a lower maximum in a request breaks',
    ({ limit }) => {
      limit.schema.maximum = 50;
    },
    'breaking',
    'listPets: query parameter limit: maximum changed from 100 to 50',
  ],
  [
    'a higher maximum in a request is compatible',
    ({ limit }) => {
      limit.schema.maximum = 200;
    },
    'compatible',
    'listPets: query parameter limit: maximum changed from 100 to 200',
  ],
  [
    'a higher minimum in a request breaks',
    ({ limit }) => {
      limit.schema.minimum = 5;
    },
    'breaking',
    'listPets: query parameter limit: minimum changed from 1 to 5',
  ],
  [
    'a lower minimum in a request is compatible',
    ({ limit }) => {
      limit.schema.minimum = 0;
    },
    'compatible',
    'listPets: query parameter limit: minimum changed from 1 to 0',
  ],
  [
    'no minimum in a request is compatible',
    ({ limit }) => delete limit.schema.minimum,
    'compatible',
    'listPets: query parameter limit: minimum 1 was removed',
  ],
  [
    'a bound where there was none breaks a request',
    ({ PetId }) => {
      PetId.exclusiveMinimum = 0;
    },
    'breaking',
    'getPet: path parameter petId: exclusiveMinimum 0 was added',
  ],
  [
    'another default breaks, since requests without a value mean something else',
    ({ limit }) => {
      limit.schema.default = 10;
    },
    'breaking',
    'listPets: query parameter limit: default changed from 20 to 10',
  ],
  [
    'a wider integer in a request is compatible',
    ({ limit }) => {
      limit.schema.format = 'int64';
    },
    'compatible',
    'listPets: query parameter limit: format changed from int32 to int64',
  ],
  [
    'a narrower integer breaks, in requests and in replies',
    ({ PetId }) => {
      PetId.format = 'int32';
    },
    'breaking',
    'getPet: path parameter petId: format changed from int64 to int32',
  ],
  [
    'a format where there was none breaks a request',
    ({ after }) => {
      after.schema.format = 'uuid';
    },
    'breaking',
    'listPets: query parameter after: format uuid was added',
  ],
  [
    'a number in place of an integer is compatible in a request',
    ({ limit }) => {
      limit.schema.type = 'number';
      delete limit.schema.format;
    },
    'compatible',
    'listPets: query parameter limit: type changed from integer to number',
  ],
  [
    'another type breaks',
    ({ limit }) => {
      limit.schema.type = 'string';
    },
    'breaking',
    'listPets: query parameter limit: type changed from integer to string',
  ],
  [
    'any type in a request is compatible',
    ({ after }) => delete after.schema.type,
    'compatible',
    'listPets: query parameter after: type string was removed',
  ],
  [
    'another pattern breaks',
    ({ after }) => {
      after.schema.pattern = '^[0-9]+$';
    },
    'breaking',
    'listPets: query parameter after: pattern changed from ^[A-Za-z0-9_-]+$ to ^[0-9]+$',
  ],
  [
    'a shorter parameter breaks',
    ({ after }) => {
      after.schema.maxLength = 32;
    },
    'breaking',
    'listPets: query parameter after: maxLength changed from 64 to 32',
  ],
  [
    'a parameter that becomes opaque breaks',
    ({ status }) => {
      status['x-opaque'] = true;
    },
    'breaking',
    'listPets: query parameter status: became opaque',
  ],
  [
    'a parameter that is no longer opaque is compatible',
    ({ after }) => delete after['x-opaque'],
    'compatible',
    'listPets: query parameter after: is no longer opaque',
  ],
  [
    'another way to write a parameter breaks',
    ({ status }) => {
      status.style = 'spaceDelimited';
    },
    'breaking',
    'listPets: query parameter status: style spaceDelimited was added',
  ],

  // Request bodies
  [
    'a new required field of a request breaks',
    ({ NewPet }) => {
      NewPet.properties.note = NOTE;
      NewPet.required.push('note');
    },
    'breaking',
    'createPet: body.note: was added, and is required',
  ],
  [
    'a new optional field of a closed request is compatible',
    ({ NewPet }) => {
      NewPet.properties.note = NOTE;
    },
    'compatible',
    'createPet: body.note: was added, and is optional',
  ],
  [
    'removing a field of a request breaks, since unknown ones are refused',
    ({ NewPet }) => delete NewPet.properties.status,
    'breaking',
    'createPet: body.status: was removed',
  ],
  [
    'a field of a request that becomes required breaks',
    ({ NewPet }) => NewPet.required.push('status'),
    'breaking',
    'createPet: body.status: became required',
  ],
  [
    'a field of a request that is no longer required is compatible',
    ({ NewPet }) => NewPet.required.pop(),
    'compatible',
    'createPet: body.categoryId: is no longer required',
  ],
  [
    'requiring a field that is not named breaks',
    ({ NewPet }) => NewPet.required.push('note'),
    'breaking',
    'createPet: body.note: was added, and is required',
  ],
  [
    'opening the body of a request is compatible',
    ({ NewPet }) => {
      NewPet.additionalProperties = true;
    },
    'compatible',
    'createPet: body: any other field: may be there now',
  ],
  [
    'a body that becomes optional is compatible',
    ({ createPet }) => {
      createPet.requestBody.required = false;
    },
    'compatible',
    'createPet: body: is no longer required',
  ],
  [
    'a new required body breaks',
    ({ listPets, createPet }) => {
      listPets.requestBody = createPet.requestBody;
    },
    'breaking',
    'listPets: body: was added, and is required',
  ],
  [
    'a new optional body is compatible',
    ({ listPets, createPet }) => {
      listPets.requestBody = { ...createPet.requestBody, required: false };
    },
    'compatible',
    'listPets: body: was added, and is optional',
  ],
  [
    'removing a body breaks',
    ({ createPet }) => delete createPet.requestBody,
    'breaking',
    'createPet: body: was removed',
  ],
  [
    'a smaller body breaks',
    ({ createPet }) => {
      createPet.requestBody['x-max-bytes'] = 1024;
    },
    'breaking',
    'createPet: body: x-max-bytes changed from 16384 to 1024',
  ],
  [
    'a larger body is compatible',
    ({ createPet }) => delete createPet.requestBody['x-max-bytes'],
    'compatible',
    'createPet: body: x-max-bytes 16384 was removed',
  ],
  [
    'removing a content type of a request breaks',
    ({ createPet }) => {
      const { content } = createPet.requestBody;
      createPet.requestBody.content = { 'application/cbor': content['application/json'] };
    },
    'breaking',
    'createPet: body: content type application/json was removed',
  ],
  [
    'adding a content type to a request is compatible',
    ({ createPet }) => {
      const { content } = createPet.requestBody;
      content['application/cbor'] = content['application/json'];
    },
    'compatible',
    'createPet: body: content type application/cbor was added',
  ],

  // Responses
  [
    'removing a field of a response breaks, also an optional one',
    ({ Pet }) => delete Pet.properties.status,
    'breaking',
    'listPets: response 200: body[].status: was removed',
  ],
  [
    'a field of a response that is no longer required breaks',
    ({ Pet }) => Pet.required.pop(),
    'breaking',
    'getPet: response 200: body.categoryId: is no longer required',
  ],
  [
    'a field of a response that becomes required is compatible',
    ({ Pet }) => Pet.required.push('status'),
    'compatible',
    'createPet: response 201: body.status: became required',
  ],
  [
    'a new field of a response is compatible',
    ({ Pet }) => {
      Pet.properties.note = NOTE;
    },
    'compatible',
    'listPets: response 200: body[].note: was added',
  ],
  [
    'a new value of an enum breaks, where clients receive it',
    ({ PetStatus }) => PetStatus.enum.push('lost'),
    'breaking',
    'getPet: response 200: body.status: enum gained lost',
  ],
  [
    'removing a value of an enum breaks, where clients send it',
    ({ PetStatus }) => PetStatus.enum.pop(),
    'breaking',
    'listPets: query parameter status: enum lost sold',
  ],
  [
    'a single value is an enum of one',
    ({ PetStatus }) => {
      delete PetStatus.enum;
      PetStatus.const = 'sold';
    },
    'breaking',
    'createPet: body.status: enum lost available, pending',
  ],
  [
    'any value in a response breaks',
    ({ PetStatus }) => delete PetStatus.enum,
    'breaking',
    'getPet: response 200: body.status: enum ["available","pending","sold"] was removed',
  ],
  [
    'a new value of an extensible enum is compatible',
    ({ ErrorCode }) => ErrorCode['x-extensible-enum'].push('teapot'),
    'compatible',
    'getPet: response 404: body.code: x-extensible-enum gained teapot',
  ],
  [
    'removing a value of an extensible enum breaks',
    ({ ErrorCode }) => ErrorCode['x-extensible-enum'].pop(),
    'breaking',
    'listPets: response default: body.code: x-extensible-enum lost unavailable',
  ],
  [
    'a wider bound in a response breaks',
    ({ Error: ErrorBody }) => {
      ErrorBody.properties.status.maximum = 999;
    },
    'breaking',
    'createPet: response 413: body.status: maximum changed from 599 to 999',
  ],
  [
    'a closer bound in a response is compatible',
    ({ Pets }) => {
      Pets.maxItems = 100;
    },
    'compatible',
    'listPets: response 200: body: maxItems 100 was added',
  ],
  [
    'longer text in a response breaks',
    ({ PetName }) => {
      PetName.maxLength = 300;
    },
    'breaking',
    'getPet: response 200: body.name: maxLength changed from 255 to 300',
  ],
  [
    'null in a response breaks',
    ({ Pet }) => {
      Pet.properties.note = NOTE;
      Pet.properties.id = { type: ['integer', 'null'], format: 'int64' };
    },
    'breaking',
    'getPet: response 200: body.id: type changed from integer to ["integer","null"]',
  ],
  [
    'an integer in place of a number is a new type in a response',
    ({ Error: ErrorBody }) => {
      ErrorBody.properties.status.type = 'number';
    },
    'breaking',
    'getPet: response 404: body.status: type changed from integer to number',
  ],
  [
    'other items in a response break',
    ({ Pets }) => {
      Pets.items = { type: 'string' };
    },
    'breaking',
    'listPets: response 200: body[]: type changed from object to string',
  ],
  [
    'an object in place of an array breaks',
    ({ Pets }) => {
      Pets.type = 'object';
    },
    'breaking',
    'listPets: response 200: body: type changed from array to object',
  ],
  [
    'a default in a response is for people',
    ({ Error: ErrorBody }) => {
      ErrorBody.properties.message.default = 'Sorry.';
    },
    'documentation',
    'getPet: response 404: body.message: default Sorry. was added',
  ],
  [
    'deprecating a field is compatible',
    ({ Error: ErrorBody }) => {
      ErrorBody.properties.message.deprecated = true;
    },
    'compatible',
    'getPet: response 404: body.message: deprecated true was added',
  ],
  [
    'renaming a schema breaks generated clients',
    ({ schemas, getPet }) => {
      schemas.Animal = schemas.Pet;
      getPet.responses['200'].content['application/json'].schema.$ref = '#/components/schemas/Animal';
    },
    'breaking',
    'getPet: response 200: body: name of the schema changed from Pet to Animal',
  ],
  [
    'naming a schema is compatible',
    ({ schemas, Error: ErrorBody }) => {
      schemas.Message = ErrorBody.properties.message;
      ErrorBody.properties.message = { $ref: '#/components/schemas/Message' };
    },
    'compatible',
    'getPet: response 404: body.message: name of the schema Message was added',
  ],
  [
    'removing a status breaks',
    ({ getPet }) => delete getPet.responses['404'],
    'breaking',
    'getPet: response 404: was removed',
  ],
  [
    'a new kind of success breaks',
    ({ createPet }) => {
      createPet.responses['202'] = { description: 'It will be added.' };
    },
    'breaking',
    'createPet: response 202: was added',
  ],
  [
    'a new error is compatible, where it is what default was',
    ({ createPet }) => {
      createPet.responses['409'] = createPet.responses['413'];
    },
    'compatible',
    'createPet: response 409: was added',
  ],
  [
    'a new error breaks, where it has another body than default had',
    ({ createPet }) => {
      createPet.responses['409'] = { content: { 'application/json': { schema: { type: 'string' } } } };
    },
    'breaking',
    'createPet: response 409: body.code: was removed',
  ],
  [
    'removing a header breaks',
    ({ createPet }) => delete createPet.responses['201'].headers.Location,
    'breaking',
    'createPet: response 201: header location: was removed',
  ],
  [
    'a header that is no longer required breaks',
    ({ createPet }) => {
      createPet.responses['201'].headers.Location.required = false;
    },
    'breaking',
    'createPet: response 201: header location: is no longer required',
  ],
  [
    'a header that is always there is compatible',
    ({ listPets }) => {
      listPets.responses['200'].headers.Link.required = true;
    },
    'compatible',
    'listPets: response 200: header link: became required',
  ],
  [
    'a new header is compatible',
    ({ createPet }) => {
      createPet.responses['201'].headers.ETag = { schema: { type: 'string' } };
    },
    'compatible',
    'createPet: response 201: header etag: was added',
  ],
  [
    'another pattern of a header breaks',
    ({ headers }) => {
      headers.Deprecation.schema.pattern = '.*';
    },
    'breaking',
    'getPet: response 200: header deprecation: pattern changed from ^@[0-9]+$ to .*',
  ],
  [
    'removing a content type of a response breaks',
    ({ responses }) => delete responses.Unauthorized.content,
    'breaking',
    'listPets: response 401: body: content type application/json was removed',
  ],
  [
    'removing a link breaks',
    ({ createPet }) => delete createPet.responses['201'].links.self,
    'breaking',
    'createPet: response 201: link self: was removed',
  ],
  [
    'another link breaks',
    ({ createPet }) => {
      createPet.responses['201'].links.self.operationId = 'listPets';
    },
    'breaking',
    'createPet: response 201: link self: operationId changed from getPet to listPets',
  ],
  [
    'a new link is compatible',
    ({ createPet }) => {
      createPet.responses['201'].links.all = { operationId: 'listPets' };
    },
    'compatible',
    'createPet: response 201: link all: was added',
  ],

  // What people read
  [
    'descriptions are for people',
    ({ contract, listPets, PetId, responses }) => {
      for (const part of [contract.info, contract.tags[0], listPets, PetId, responses.Failure])
        part.description = 'New.';
    },
    'documentation',
    'listPets: description changed',
  ],
  [
    'examples are for people',
    ({ PetId, limit, examples, createPet }) => {
      PetId.examples = [2];
      limit.example = 3;
      examples.Unauthorized.value.message = 'No key.';
      createPet.requestBody.content['application/json'].examples.full.value.name = 'Max';
    },
    'documentation',
    'listPets: query parameter limit: example changed',
  ],
  [
    'a correction of the OpenAPI version is for people',
    ({ contract }) => {
      contract.openapi = '3.1.1';
    },
    'documentation',
    'contract: its parts are arranged in another way',
  ],
  [
    'another OpenAPI version breaks the tools of clients',
    ({ contract }) => {
      contract.openapi = '3.2.0';
    },
    'breaking',
    'contract: openapi changed from 3.1.0 to 3.2.0',
  ],
];
