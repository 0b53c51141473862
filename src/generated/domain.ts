// Made from openapi/petstore.yaml by contract-first 1.0.0: `npm run generate`. Never edited.

import { addErrors, type MissingErrors } from 'contract-first';
import { pets } from '../pets/domain.ts';

export const domain = { pets };
export const errors = addErrors({ ...pets.errors } satisfies MissingErrors);
