// Made from openapi/petstore.yaml by `npm run generate`. Never edited.

import listPetsHandler from '../../handlers/listPets.ts';
import createPetHandler from '../../handlers/createPet.ts';
import getPetHandler from '../../handlers/getPet.ts';
import type { Handler, OperationId } from '../routes/handler.ts';

export const handlers = {
  listPets: listPetsHandler,
  createPet: createPetHandler,
  getPet: getPetHandler,
} satisfies { [Id in OperationId]: Handler<Id> };

/** SHA-256 of the contract that the types and this map are made from. */
export const CONTRACT_DIGEST = 'e76121ade3f2700fbb36445183741b19b49a00561b3e9d6620f67f8f8c19961d';
