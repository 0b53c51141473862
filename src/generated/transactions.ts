// Made from openapi/petstore.yaml by `npm run generate`. Never edited.

export const transactions = {};
