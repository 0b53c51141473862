/** Edits of the contract, each with one of the changes that are reported; none of them is worse for clients. */
import { type Edit, withPrefix } from '../edited-contract.ts';

const NOTE = { description: 'A note.', type: 'string' };
const QUERY = { name: 'name', in: 'query', description: 'Only this name.', schema: { type: 'string' } };

// biome-ignore format: a table
export const CHANGES: [edit: Edit, reported: string][] = [
  // Operations
  [({ paths }) => delete paths['/pets/{petId}'], 'breaking: getPet: was removed from GET /pets/{petId}'],
  [({ paths, getPet }) => (paths['/pets/{petId}'].delete = { ...getPet, operationId: 'deletePet' }),
    'compatible: deletePet: was added, as DELETE /pets/{petId}'],
  [({ listPets }) => (listPets.operationId = 'listAnimals'),
    'breaking: listPets: operationId changed from listPets to listAnimals'],
  [({ paths }) => { paths['/animals'] = paths['/pets']; delete paths['/pets'] },
    'breaking: listPets: was removed from GET /pets'],
  [({ paths }) => { paths['/pets'].put = paths['/pets'].post; delete paths['/pets'].post },
    'breaking: createPet: was removed from POST /pets'],
  [({ contract, listPets }) => { contract.tags[0].name = 'animals'; listPets.tags = ['animals'] },
    'breaking: listPets: tags lost pets and gained animals'],
  [({ listPets }) => listPets.tags.push('lists'), 'compatible: listPets: tags gained lists'],
  [({ listPets }) => (listPets['x-cost'] = 2), 'breaking: listPets: x-cost 2 was added'],

  // Deprecation
  [({ listPets }) => Object.assign(listPets, { deprecated: true, 'x-sunset': '3000-01-01' }),
    'compatible: listPets: is deprecated, until 3000-01-01'],
  [({ getPet }) => (getPet.deprecated = false), 'breaking: getPet: is no longer deprecated'],
  [({ getPet }) => (getPet['x-sunset'] = '2999-12-04'),
    'breaking: getPet: x-sunset changed from 2999-12-05 to 2999-12-04'],
  [({ getPet }) => (getPet['x-sunset'] = '3000-01-01'),
    'compatible: getPet: x-sunset changed from 2999-12-05 to 3000-01-01'],
  [({ getPet }) => (getPet['x-successor'] = 'findPet'),
    'compatible: getPet: x-successor changed from listPets to findPet'],

  // Security and servers
  [({ securitySchemes }) => (securitySchemes.bearerAuth.scheme = 'basic'),
    'breaking: security scheme bearerAuth: scheme changed from bearer to basic'],
  [({ contract }) => (contract.security = [{ bearerAuth: [], partnerKey: [] }]),
    'breaking: createPet: security lost bearerAuth and gained bearerAuth and partnerKey'],
  [({ listPets }) => (listPets.security = [{ bearerAuth: ['read'] }]),
    'breaking: listPets: security lost bearerAuth and gained bearerAuth read'],
  [({ listPets }) => (listPets.security = [{ bearerAuth: [] }, { partnerKey: [] }]),
    'compatible: listPets: security gained partnerKey'],
  [({ listPets }) => (listPets.security = []), 'compatible: listPets: security lost bearerAuth and gained no key'],
  [({ listPets }) => (listPets.security = [{ bearerAuth: [] }, {}]), 'compatible: listPets: security gained no key'],
  [withPrefix('/v2'), 'breaking: servers: path prefix changed from /v1 to /v2'],
  [({ contract }) => contract.servers.pop(), 'breaking: server {staging_origin}: was removed'],
  [({ contract }) => contract.servers.push({ url: 'https://eu.petstore.example/v1' }),
    'compatible: server https://eu.petstore.example: was added'],
  [({ contract }) => (contract.servers[1].variables.production_origin.default = 'https://pets.example'),
    'breaking: server {production_origin}: variable production_origin: default changed from ' +
    'https://petstore.example to https://pets.example'],

  // Parameters
  [({ listPets }) => listPets.parameters.push({ ...QUERY, required: true }),
    'breaking: listPets query.name: was added, and is required'],
  [({ paths }) => (paths['/pets/{petId}'].parameters = [QUERY]),
    'compatible: getPet query.name: was added, and is optional'],
  [({ listPets }) => listPets.parameters.pop(), 'breaking: listPets query.after: was removed'],
  [({ status }) => (status.required = true), 'breaking: listPets query.status: became required'],
  [({ limit }) => (limit.schema.maximum = 50), 'breaking: listPets query.limit: maximum changed from 100 to 50'],
  [({ limit }) => (limit.schema.maximum = 200), 'compatible: listPets query.limit: maximum changed from 100 to 200'],
  [({ limit }) => (limit.schema.minimum = 5), 'breaking: listPets query.limit: minimum changed from 1 to 5'],
  [({ limit }) => (limit.schema.minimum = 0), 'compatible: listPets query.limit: minimum changed from 1 to 0'],
  [({ limit }) => delete limit.schema.minimum, 'compatible: listPets query.limit: minimum 1 was removed'],
  [({ PetId }) => (PetId.exclusiveMinimum = 0), 'breaking: getPet path.petId: exclusiveMinimum 0 was added'],
  [({ limit }) => (limit.schema.default = 10), 'breaking: listPets query.limit: default changed from 20 to 10'],
  [({ limit }) => (limit.schema.format = 'int64'),
    'compatible: listPets query.limit: format changed from int32 to int64'],
  [({ PetId }) => (PetId.format = 'int32'), 'breaking: getPet path.petId: format changed from int64 to int32'],
  [({ after }) => (after.schema.format = 'uuid'), 'breaking: listPets query.after: format uuid was added'],
  [({ limit }) => { limit.schema.type = 'number'; delete limit.schema.format },
    'compatible: listPets query.limit: type changed from integer to number'],
  [({ limit }) => (limit.schema.type = 'string'),
    'breaking: listPets query.limit: type changed from integer to string'],
  [({ after }) => delete after.schema.type, 'compatible: listPets query.after: type string was removed'],
  [({ after }) => (after.schema.pattern = '^[0-9]+$'),
    'breaking: listPets query.after: pattern changed from ^[A-Za-z0-9_-]+$ to ^[0-9]+$'],
  [({ after }) => (after.schema.maxLength = 32), 'breaking: listPets query.after: maxLength changed from 64 to 32'],
  [({ status }) => (status['x-opaque'] = true), 'breaking: listPets query.status: became x-opaque'],
  [({ after }) => delete after['x-opaque'], 'compatible: listPets query.after: is no longer x-opaque'],
  [({ status }) => (status.style = 'spaceDelimited'),
    'breaking: listPets query.status: style spaceDelimited was added'],

  // Request bodies
  [({ NewPet }) => { NewPet.properties.note = NOTE; NewPet.required.push('note') },
    'breaking: createPet body.note: was added, and is required'],
  [({ NewPet }) => (NewPet.properties.note = NOTE), 'compatible: createPet body.note: was added, and is optional'],
  [({ NewPet }) => delete NewPet.properties.status, 'breaking: createPet body.status: was removed'],
  [({ NewPet }) => NewPet.required.push('status'), 'breaking: createPet body.status: became required'],
  [({ NewPet }) => NewPet.required.pop(), 'compatible: createPet body.categoryId: is no longer required'],
  [({ NewPet }) => NewPet.required.push('note'), 'breaking: createPet body.note: was added, and is required'],
  [({ NewPet }) => (NewPet.additionalProperties = true),
    'compatible: createPet body: any other field: may be there now'],
  [({ body }) => (body.required = false), 'compatible: createPet body: is no longer required'],
  [({ listPets, body }) => (listPets.requestBody = body), 'breaking: listPets body: was added, and is required'],
  [({ listPets, body }) => (listPets.requestBody = { ...body, required: false }),
    'compatible: listPets body: was added, and is optional'],
  [({ createPet }) => delete createPet.requestBody, 'breaking: createPet body: was removed'],
  [({ body }) => (body['x-max-bytes'] = 1024), 'breaking: createPet body: x-max-bytes changed from 16384 to 1024'],
  [({ body }) => delete body['x-max-bytes'], 'compatible: createPet body: x-max-bytes 16384 was removed'],
  [({ body }) => (body.content = { 'application/cbor': body.content['application/json'] }),
    'breaking: createPet body: content type application/json was removed'],
  [({ body }) => (body.content['application/cbor'] = body.content['application/json']),
    'compatible: createPet body: content type application/cbor was added'],

  // Responses
  [({ Pet }) => delete Pet.properties.status, 'breaking: listPets 200 body[].status: was removed'],
  [({ Pet }) => Pet.required.pop(), 'breaking: getPet 200 body.categoryId: is no longer required'],
  [({ Pet }) => Pet.required.push('status'), 'compatible: createPet 201 body.status: became required'],
  [({ Pet }) => (Pet.properties.note = NOTE), 'compatible: listPets 200 body[].note: was added'],
  [({ PetStatus }) => PetStatus.enum.push('lost'), 'breaking: getPet 200 body.status: enum gained lost'],
  [({ PetStatus }) => PetStatus.enum.pop(), 'breaking: listPets query.status: enum lost sold'],
  [({ PetStatus }) => { delete PetStatus.enum; PetStatus.const = 'sold' },
    'breaking: createPet body.status: enum lost available, pending'],
  [({ PetStatus }) => delete PetStatus.enum,
    'breaking: getPet 200 body.status: enum ["available","pending","sold"] was removed'],
  [({ ErrorCode }) => ErrorCode['x-extensible-enum'].push('teapot'),
    'compatible: getPet 404 body.code: x-extensible-enum gained teapot'],
  [({ ErrorCode }) => ErrorCode['x-extensible-enum'].pop(),
    'breaking: listPets default body.code: x-extensible-enum lost unavailable'],
  [({ errorFields }) => (errorFields.status.maximum = 999),
    'breaking: createPet 413 body.status: maximum changed from 599 to 999'],
  [({ Pets }) => (Pets.maxItems = 100), 'compatible: listPets 200 body: maxItems 100 was added'],
  [({ PetName }) => (PetName.maxLength = 300), 'breaking: getPet 200 body.name: maxLength changed from 255 to 300'],
  [({ Pet }) => { Pet.properties.note = NOTE; Pet.properties.id = { type: ['integer', 'null'], format: 'int64' } },
    'breaking: getPet 200 body.id: type changed from integer to ["integer","null"]'],
  [({ errorFields }) => (errorFields.status.type = 'number'),
    'breaking: getPet 404 body.status: type changed from integer to number'],
  [({ Pets }) => (Pets.items = { type: 'string' }),
    'breaking: listPets 200 body[]: type changed from object to string'],
  [({ Pets }) => (Pets.type = 'object'), 'breaking: listPets 200 body: type changed from array to object'],
  [({ errorFields }) => (errorFields.message.default = 'Sorry.'),
    'documentation: getPet 404 body.message: default Sorry. was added'],
  [({ errorFields }) => (errorFields.message.deprecated = true),
    'compatible: getPet 404 body.message: became deprecated'],
  [({ schemas, getPet }) => {
    schemas.Animal = schemas.Pet;
    getPet.responses['200'].content['application/json'].schema.$ref = '#/components/schemas/Animal';
  },
    'breaking: getPet 200 body: name of the schema changed from Pet to Animal'],
  [({ schemas, errorFields }) => {
    schemas.Message = errorFields.message;
    errorFields.message = { $ref: '#/components/schemas/Message' };
  },
    'compatible: getPet 404 body.message: name of the schema Message was added'],
  [({ getPet }) => delete getPet.responses['404'], 'breaking: getPet 404: was removed'],
  [({ createPet: { responses } }) => (responses['202'] = { description: 'It will be added.' }),
    'breaking: createPet 202: was added'],
  [({ createPet }) => (createPet.responses['409'] = createPet.responses['413']),
    'compatible: createPet 409: was added'],
  [({ createPet: { responses } }) => (responses['409'] = { content: { 'application/json': { schema: NOTE } } }),
    'breaking: createPet 409 body.code: was removed'],
  [({ created }) => delete created.headers.Location, 'breaking: createPet 201 header location: was removed'],
  [({ created }) => (created.headers.Location.required = false),
    'breaking: createPet 201 header location: is no longer required'],
  [({ listPets }) => (listPets.responses['200'].headers.Link.required = true),
    'compatible: listPets 200 header link: became required'],
  [({ created }) => (created.headers.ETag = { schema: { type: 'string' } }),
    'compatible: createPet 201 header etag: was added'],
  [({ headers }) => (headers.Deprecation.schema.pattern = '.*'),
    'breaking: getPet 200 header deprecation: pattern changed from ^@[0-9]+$ to .*'],
  [({ responses }) => delete responses.Unauthorized.content,
    'breaking: listPets 401 body: content type application/json was removed'],
  [({ created }) => delete created.links.self, 'breaking: createPet 201 link self: was removed'],
  [({ created }) => (created.links.self.operationId = 'listPets'),
    'breaking: createPet 201 link self: operationId changed from getPet to listPets'],
  [({ created }) => (created.links.all = { operationId: 'listPets' }), 'compatible: createPet 201 link all: was added'],

  // What people read
  [({ contract: { info, tags }, listPets, PetId, responses: { Failure } }) => {
    for (const part of [info, tags[0], listPets, PetId, Failure]) part.description = 'New.';
  },
    'documentation: listPets: description changed'],
  [({ PetId, limit, examples, body }) => {
    PetId.examples = [2];
    limit.example = 3;
    examples.Unauthorized.value.message = 'No key.';
    body.content['application/json'].examples.full.value.name = 'Max';
  },
    'documentation: listPets query.limit: example changed'],
  [({ contract }) => (contract.openapi = '3.1.1'), 'documentation: contract: is arranged in another way'],
  [({ contract }) => (contract.openapi = '3.2.0'), 'breaking: contract: openapi changed from 3.1.0 to 3.2.0'],
];
