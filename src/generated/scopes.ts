// Made from openapi/petstore.yaml by `npm run generate`. Never edited.

/** The scopes that the operations need. */
export const SCOPES: readonly string[] = ['pets:read', 'pets:write'];
