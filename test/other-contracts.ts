/** Other people's contracts, in `test/other-contracts/`, and what must be changed in each. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import type { Json } from '../src/schema/json.ts';

interface Other {
  /** What is refused, by operation. */
  refused: Record<string, RegExp>;
  /** Changes the contract as the table says. */
  change(contract: Json): void;
}

const ERROR_BODY = /its body cannot be the Error/;
const mapError = (contract: Json) => (contract['x-error-body'] = { code: '{status}', message: '{message}' });
const asJson = (body: Json) => (body.content = { 'application/json': Object.values(body.content)[0] });
const asBearer = ({ components }: Json, name: string) =>
  (components.securitySchemes[name] = { type: 'http', scheme: 'bearer' });

export const OTHERS: Record<string, Other> = {
  petstore: {
    refused: { listPets: ERROR_BODY, createPets: ERROR_BODY, showPetById: ERROR_BODY },
    change: mapError,
  },
  'petstore-expanded': {
    refused: { findPets: ERROR_BODY, addPet: ERROR_BODY, 'find pet by id': /its operationId/, deletePet: ERROR_BODY },
    change: (contract) => {
      mapError(contract);
      contract.paths['/pets/{id}'].get.operationId = 'find-pet-by-id';
    },
  },
  'swagger-petstore': {
    refused: {
      'the contract': /security scheme petstore_auth: only bearer keys/,
      updatePet: /application\/xml .*x-www-form-urlencoded/,
      addPet: /application\/xml .*x-www-form-urlencoded/,
      uploadFile: /application\/octet-stream/,
    },
    change: (contract) => {
      asBearer(contract, 'petstore_auth');
      asJson(contract.components.requestBodies.Pet);
      delete contract.paths['/pet/{petId}/uploadImage'].post.requestBody;
    },
  },
  uspto: {
    refused: { 'list-data-sets': /unknown format "uriref"/, 'perform-search': /x-www-form-urlencoded/ },
    change: ({ paths, components }) => {
      components.schemas.dataSetList.properties.apis.items.properties.apiUrl.format = 'uri-reference';
      asJson(paths['/{dataset}/{version}/records'].post.requestBody);
    },
  },
  tictactoe: {
    refused: {
      'the contract': /basicHttp.*only bearer keys.*app2App.*only bearer keys.*user2App.*only bearer keys/,
      'get-square': /text\/html/,
      'put-square': /text\/html/,
    },
    change: (contract) => {
      const { paths, components } = contract;
      const { securitySchemes: schemes } = components;
      delete schemes.basicHttpAuthentication;
      delete schemes.app2AppOauth;
      delete schemes.user2AppOauth;
      paths['/board'].get.security = [{ defaultApiKey: [] }, { bearerHttpAuthentication: ['board:read'] }];
      const { get, put } = paths['/board/{row}/{column}'];
      get.security = [{ bearerHttpAuthentication: ['board:read'] }];
      put.security = [{ bearerHttpAuthentication: [] }];
      for (const { responses } of [get, put]) asJson(responses['400']);
      contract['x-error-body'] = '{code}: {message}';
      components.schemas.errorMessage.maxLength = 10_000;
    },
  },
  link: { refused: {}, change: () => {} },
  webhook: { refused: {}, change: () => {} },
  'api-with-examples': { refused: {}, change: () => {} },
};

/** The contract after its change, as YAML. */
export function changed(name: string): string {
  const contract = parse(readFileSync(fileOf(name), 'utf8'));
  OTHERS[name]?.change(contract);
  return stringify(contract, { aliasDuplicateObjects: false });
}

/** As its team has it. */
export const fileOf = (name: string) => fileURLToPath(new URL(`./other-contracts/${name}.yaml`, import.meta.url));
