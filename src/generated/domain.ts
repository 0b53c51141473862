// Made from openapi/petstore.yaml by `npm run generate`. Never edited.

import { pets } from '../pets/domain.ts';

export const domain = { pets };
export const errors = { ...pets.errors };
