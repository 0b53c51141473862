// Made from openapi/petstore.yaml by `npm run generate`. Never edited.

import { addErrors, type MissingErrors } from 'contract-first';
import { pets } from '../pets/domain.ts';

export const domain = { pets };
export const errors = addErrors({ ...pets.errors } satisfies MissingErrors);
