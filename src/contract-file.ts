/** The contract of the service. */
export const CONTRACT_FILE = new URL('openapi/petstore.yaml', import.meta.resolve('#package'));
