/** A plugin of Redocly with our own rules. A rule is a visitor of the contract's nodes. */
import { examples, headerExamples } from './examples.js';
import { deprecatedOperations, errorResponses, securedOperations, successResponses } from './operations.js';
import { linearPatterns, portablePatterns } from './patterns.js';
import { arrayItems, closedRequestBodies, integerFormats, noRepetition } from './schemas.js';
import { descriptions } from './texts.js';

/**
 * Restricts a rule to operations that the server answers. Excludes webhooks and callbacks, because clients answer
 * these.
 */
const ofOurs = (rule) => () =>
  Object.fromEntries(
    Object.entries(rule()).map(([node, visit]) => [
      node,
      typeof visit === 'function' ? (source, ctx) => isOurs(ctx.location) && visit(source, ctx) : visit,
    ]),
  );

/**
 * `lint.ts` itself runs these rules, on the operations as the server reads them. The rules are listed here so that a
 * `redocly.yaml` can set their severities.
 */
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
