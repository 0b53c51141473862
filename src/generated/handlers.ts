// Made from openapi/petstore.yaml by `npm run generate`. Never edited.

import listPetsHandler from '../../handlers/listPets.ts';
import createPetHandler from '../../handlers/createPet.ts';
import getPetHandler from '../../handlers/getPet.ts';
import type { Handler, OperationId } from '../wiring/handler.ts';

export const handlers = {
  listPets: listPetsHandler,
  createPet: createPetHandler,
  getPet: getPetHandler,
} satisfies { [Id in OperationId]: Handler<Id> };

/** SHA-256 of the contract that the types and this map are made from. */
export const CONTRACT_DIGEST = '017b3de64509ae269f13842158544be3ae0b3d16cb6d16a05e06afb7a96dc17e';
