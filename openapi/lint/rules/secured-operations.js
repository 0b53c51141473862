/** Every operation that takes an API key says how it refuses a missing one (401), and a bad request (400). */
import { hasHeader, responsesOf } from '../references.js';

export default function securedOperations() {
  let general;
  return {
    Root({ security }) {
      general = security;
    },
    Operation(operation, ctx) {
      const requirements = operation.security ?? general ?? [];
      if (!requirements.some((requirement) => Object.keys(requirement).length > 0)) return;
      const refuse = (problem, location) =>
        ctx.report({ message: `${operation.operationId} takes an API key, so ${problem}.`, location });
      const responses = responsesOf(operation, ctx);
      const place = ctx.location.child('responses').key();

      const unauthorized = responses.find(({ status }) => status === '401');
      if (!unauthorized) refuse('it must declare the response 401', place);
      else if (!hasHeader(unauthorized.response, 'WWW-Authenticate')) {
        refuse('its 401 must declare the header WWW-Authenticate (RFC 9110, section 11.6.1)', unauthorized.location);
      }
      if (!responses.some(({ status }) => status === '400')) {
        refuse('it must declare the response 400: unknown query parameters are refused everywhere', place);
      }
    },
  };
}
