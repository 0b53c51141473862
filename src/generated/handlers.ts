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
export const CONTRACT_DIGEST = 'd14c700afc995fb8a525e18e86128c66b03fb7ce35d37129ddefb3c3a745ace6';
