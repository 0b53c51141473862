/** Our own rules, as a plugin of Redocly: each is a file of its own, and a visitor of the contract's nodes. */
import closedRequestBodies from './rules/closed-request-bodies.js';
import deprecatedOperations from './rules/deprecated-operations.js';
import descriptions from './rules/descriptions.js';
import errorResponses from './rules/error-responses.js';
import examples from './rules/examples.js';
import integerFormats from './rules/integer-formats.js';
import portablePatterns from './rules/portable-patterns.js';
import securedOperations from './rules/secured-operations.js';
import servers from './rules/servers.js';

export default function petstore() {
  return {
    id: 'petstore',
    rules: {
      oas3: {
        'closed-request-bodies': closedRequestBodies,
        'deprecated-operations': deprecatedOperations,
        descriptions,
        'error-responses': errorResponses,
        examples,
        'integer-formats': integerFormats,
        'portable-patterns': portablePatterns,
        'secured-operations': securedOperations,
        servers,
      },
    },
  };
}
