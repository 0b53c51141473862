// Made from openapi/petstore.yaml by `npm run generate`. Never edited.

export { domain } from '../pets/domain.ts';
