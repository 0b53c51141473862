// Made from openapi/petstore.yaml by `npm run generate`. Never edited.

import listPetsHandler from '../../handlers/listPets.ts';
import createPetHandler from '../../handlers/createPet.ts';
import getPetHandler from '../../handlers/getPet.ts';
import type { Handler, OperationId } from '../engine/index.ts';

export const handlers = {
  listPets: listPetsHandler,
  createPet: createPetHandler,
  getPet: getPetHandler,
} satisfies { [Id in OperationId]: Handler<Id> };

/** SHA-256 of the contract that the types and this map are made from. */
export const CONTRACT_DIGEST = '00526595a41b28fc20c3246a3c0b9a675029c069f753186cb16d3426781a9671';
