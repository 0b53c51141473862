/** Every array says what its items are: without it, clients in typed languages get a list of anything. */
export default function arrayItems() {
  return {
    Schema(schema, { location, report }) {
      if (schema.items !== undefined || schema.prefixItems || ![schema.type].flat().includes('array')) return;
      report({ message: 'An array must say what its items are.', location });
    },
  };
}
