/** Our own rules, as a plugin of Redocly: each is a file of its own, and a visitor of the contract's nodes. */
import arrayItems from './rules/array-items.js';
import closedRequestBodies from './rules/closed-request-bodies.js';
import deprecatedOperations from './rules/deprecated-operations.js';
import descriptions from './rules/descriptions.js';
import errorResponses from './rules/error-responses.js';
import examples from './rules/examples.js';
import integerFormats from './rules/integer-formats.js';
import linearPatterns from './rules/linear-patterns.js';
import noRepetition from './rules/no-repetition.js';
import portablePatterns from './rules/portable-patterns.js';
import securedOperations from './rules/secured-operations.js';
import servers from './rules/servers.js';
import successResponses from './rules/success-responses.js';
import texts from './rules/texts.js';

/** A rule of the operations that the server has: webhooks and callbacks are those of clients. */
const ofOurs = (rule) => () =>
  Object.fromEntries(
    Object.entries(rule()).map(([node, visit]) => [
      node,
      typeof visit === 'function' ? (source, ctx) => isOurs(ctx.location) && visit(source, ctx) : visit,
    ]),
  );

const isOurs = ({ pointer }) => !/^#\/webhooks\/|\/callbacks\//.test(pointer);

export default function contractFirst() {
  return {
    id: 'contract-first',
    rules: {
      oas3: {
        'array-items': arrayItems,
        'closed-request-bodies': ofOurs(closedRequestBodies),
        'deprecated-operations': ofOurs(deprecatedOperations),
        descriptions,
        'error-responses': ofOurs(errorResponses),
        examples,
        'integer-formats': integerFormats,
        'linear-patterns': linearPatterns,
        'no-repetition': noRepetition,
        'portable-patterns': portablePatterns,
        'secured-operations': ofOurs(securedOperations),
        servers,
        'success-responses': ofOurs(successResponses),
        texts,
      },
    },
  };
}
