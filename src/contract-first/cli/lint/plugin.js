/** Our own rules, as a plugin of Redocly: each is a visitor of the contract's nodes. */
import { examples, headerExamples } from './examples.js';
import { deprecatedOperations, errorResponses, securedOperations, successResponses } from './operations.js';
import { linearPatterns, portablePatterns } from './patterns.js';
import { arrayItems, closedRequestBodies, integerFormats, noRepetition } from './schemas.js';
import { descriptions } from './texts.js';

/** A rule for the operations of the server: webhooks and callbacks are operations of clients. */
const ofOurs = (rule) => () =>
  Object.fromEntries(
    Object.entries(rule()).map(([node, visit]) => [
      node,
      typeof visit === 'function' ? (source, ctx) => isOurs(ctx.location) && visit(source, ctx) : visit,
    ]),
  );

/** The lint itself checks these rules, on the finished operations. The list here allows a redocly.yaml to set their severities. */
const ofLint = () => ({});

const isOurs = ({ pointer }) => !/^#\/webhooks\/|\/callbacks\//.test(pointer);

export default function contractFirst() {
  return {
    id: 'contract-first',
    rules: {
      oas3: {
        'array-items': arrayItems,
        'closed-request-bodies': ofOurs(closedRequestBodies),
        'deprecated-operations': ofOurs(deprecatedOperations),
        'declared-replies': ofLint,
        descriptions,
        'error-responses': ofOurs(errorResponses),
        examples,
        'header-examples': headerExamples,
        'integer-formats': integerFormats,
        'linear-patterns': linearPatterns,
        links: ofLint,
        'no-repetition': noRepetition,
        'portable-patterns': portablePatterns,
        'secured-operations': ofOurs(securedOperations),
        'strict-schemas': ofLint,
        'success-responses': ofOurs(successResponses),
      },
    },
  };
}
