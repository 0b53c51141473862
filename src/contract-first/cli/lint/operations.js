/** Rules for operations and their responses. */
import { isDate } from '../../json/instant.ts';
import { hasHeader, resolveReference, responsesOf } from './references.js';

/**
 * The rule `success-responses`: every operation must declare the reply to a successful request. `default` is not
 * enough, because it is for errors.
 */
export function successResponses() {
  return {
    Operation({ operationId, responses }, { location, report }) {
      if (Object.keys(responses ?? {}).some((status) => /^[23]/.test(status))) return;
      const message = `The operation ${operationId} must have a response of success, such as 200.`;
      report({ message, location: location.child('responses').key() });
    },
  };
}

const ERROR = '#/components/schemas/Error';
const FIELDS = ['code', 'message', 'status'];

/**
 * The rule `error-responses`: all errors must use the same schema `Error`. The status in an example must be the status
 * of its reply.
 */
export function errorResponses() {
  return {
    Root({ components }, { location, report }) {
      const missing = FIELDS.filter((field) => !components?.schemas?.Error?.required?.includes(field));
      if (missing.length === 0) return;
      const message = `The schema Error must require ${FIELDS.join(', ')}; it does not require ${missing.join(', ')}.`;
      report({ message, location: location.child(['components', 'schemas', 'Error']) });
    },

    Operation(operation, ctx) {
      for (const { status, response, location } of responsesOf(operation, ctx)) {
        if (!/^([45]..|default)$/.test(status)) continue;
        const media = response.content?.['application/json'];
        if (media?.schema?.$ref !== ERROR) {
          const message = `The body of ${status} of ${operation.operationId} must be application/json with the schema Error.`;
          ctx.report({ message, location });
        }
        for (const [name, source] of Object.entries(media?.examples ?? {})) {
          const position = location.child(['content', 'application/json', 'examples', name]);
          const example = resolveReference(source, position, ctx);
          const shown = example.node.value?.status;
          if (isOf(shown, status)) continue;
          const message = `The example ${name} has the status ${shown}, but belongs to ${status} of ${operation.operationId}.`;
          ctx.report({ message, location: position });
        }
      }
    },
  };
}

function isOf(shown, status) {
  return status === 'default' || new RegExp(`^${status.replace(/X/gi, '\\d')}$`).test(shown);
}

/**
 * The rule `secured-operations`: every operation with an API key must declare the replies to a missing key (401), to
 * missing scopes (403), and to an invalid request (400).
 */
export function securedOperations() {
  let general;
  return {
    Root({ security }) {
      general = security;
    },
    Operation(operation, ctx) {
      const requirements = operation.security ?? general ?? [];
      if (!requirements.some((requirement) => Object.keys(requirement).length > 0)) return;
      const reportProblem = (problem, location) =>
        ctx.report({ message: `${operation.operationId} takes an API key, so ${problem}.`, location });
      const responses = responsesOf(operation, ctx);
      const position = ctx.location.child('responses').key();

      const unauthorized = responses.find(({ status }) => status === '401');
      if (!unauthorized) reportProblem('it must declare the response 401', position);
      else if (!hasHeader(unauthorized.response, 'WWW-Authenticate')) {
        reportProblem(
          'its 401 must declare the header WWW-Authenticate (RFC 9110, section 11.6.1)',
          unauthorized.location,
        );
      }
      const scopes = [...new Set(requirements.flatMap((requirement) => Object.values(requirement).flat()))];
      const forbidden = responses.find(({ status }) => status === '403');
      if (scopes.length > 0 && !(forbidden && hasHeader(forbidden.response, 'WWW-Authenticate'))) {
        reportProblem(
          `with ${scopes.join(', ')} it must declare the response 403 with the header WWW-Authenticate`,
          position,
        );
      }
      if (!responses.some(({ status }) => status === '400')) {
        reportProblem('it must declare the response 400: unknown query parameters are refused everywhere', position);
      }
    },
  };
}

const HEADERS = ['Deprecation', 'Sunset', 'Link'];

/**
 * The rule `deprecated-operations`: a deprecated operation must declare since when it is deprecated, when it will be
 * removed, and its replacement. The removal must be in the future.
 */
export function deprecatedOperations() {
  const operations = new Map();
  return {
    Operation(operation, ctx) {
      const reportProblem = (problem, location = ctx.location) =>
        ctx.report({ message: `${operation.operationId} is deprecated, so ${problem}.`, location });
      operations.set(operation.operationId, { operation, location: ctx.location, reportProblem });
      if (!operation.deprecated) return;
      checkDates(operation, reportProblem);
      for (const { status, response, location } of responsesOf(operation, ctx)) {
        const missing = HEADERS.filter((name) => !hasHeader(response, name));
        if (missing.length > 0) reportProblem(`its ${status} must declare the headers ${missing.join(', ')}`, location);
      }
    },

    Root: {
      leave() {
        for (const { operation, location, reportProblem } of operations.values()) {
          if (!operation.deprecated) continue;
          const successor = operations.get(operation['x-successor'])?.operation;
          if (!successor) reportProblem('x-successor must be the operationId of what to use instead', location);
          else if (successor.deprecated) {
            reportProblem(`x-successor must not be ${successor.operationId}, which is deprecated itself`, location);
          }
        }
      },
    },
  };
}

function checkDates({ 'x-deprecated-at': at, 'x-sunset': sunset }, reportProblem) {
  if (!isDate(at)) reportProblem(`x-deprecated-at must be a date, as in "2026-11-20", not ${at}`);
  if (!isDate(sunset)) reportProblem(`x-sunset must be a date, as in "2030-12-05", not ${sunset}`);
  if (!isDate(at) || !isDate(sunset)) return;
  if (sunset <= at) reportProblem(`x-sunset must be later than x-deprecated-at, ${at}, not ${sunset}`);
  const today = new Date().toISOString().slice(0, 10);
  if (sunset <= today)
    reportProblem(`its x-sunset, ${sunset}, must be still to come: remove the operation or move the date`);
}
