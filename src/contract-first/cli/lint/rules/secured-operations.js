/** Every operation that takes an API key says how it refuses a missing one (401), one without the scopes (403), and a bad request (400). */
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
      const scopes = [...new Set(requirements.flatMap((requirement) => Object.values(requirement).flat()))];
      const forbidden = responses.find(({ status }) => status === '403');
      if (scopes.length > 0 && !(forbidden && hasHeader(forbidden.response, 'WWW-Authenticate'))) {
        refuse(`with ${scopes.join(', ')} it must declare the response 403 with the header WWW-Authenticate`, place);
      }
      if (!responses.some(({ status }) => status === '400')) {
        refuse('it must declare the response 400: unknown query parameters are refused everywhere', place);
      }
    },
  };
}
