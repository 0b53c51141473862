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
export const CONTRACT_DIGEST = '3cb6278b88c70c05b1470f808652f2a5e5bce5565e9358e3ba209f7cafe84828';
