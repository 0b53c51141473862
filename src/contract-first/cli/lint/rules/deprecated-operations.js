/** A deprecated operation says since when, until when, and what to use instead; and its time is not over yet. */
import { hasHeader, responsesOf } from '../references.js';

const HEADERS = ['Deprecation', 'Sunset', 'Link'];

export default function deprecatedOperations() {
  const operations = new Map();
  return {
    Operation(operation, ctx) {
      const refuse = (problem, location = ctx.location) =>
        ctx.report({ message: `${operation.operationId} is deprecated, so ${problem}.`, location });
      operations.set(operation.operationId, { operation, location: ctx.location, refuse });
      if (!operation.deprecated) return;
      checkDates(operation, refuse);
      for (const { status, response, location } of responsesOf(operation, ctx)) {
        const missing = HEADERS.filter((name) => !hasHeader(response, name));
        if (missing.length > 0) refuse(`its ${status} must declare the headers ${missing.join(', ')}`, location);
      }
    },

    Root: {
      leave() {
        for (const { operation, location, refuse } of operations.values()) {
          if (!operation.deprecated) continue;
          const successor = operations.get(operation['x-successor'])?.operation;
          if (!successor) refuse('x-successor must be the operationId of what to use instead', location);
          else if (successor.deprecated) {
            refuse(`x-successor must not be ${successor.operationId}, which is deprecated itself`, location);
          }
        }
      },
    },
  };
}

function checkDates({ 'x-deprecated-at': at, 'x-sunset': sunset }, refuse) {
  if (!isDate(at)) refuse(`x-deprecated-at must be a date, as in "2026-11-20", not ${at}`);
  if (!isDate(sunset)) refuse(`x-sunset must be a date, as in "2030-12-05", not ${sunset}`);
  if (!isDate(at) || !isDate(sunset)) return;
  if (sunset <= at) refuse(`x-sunset must be later than x-deprecated-at, ${at}, not ${sunset}`);
  const today = new Date().toISOString().slice(0, 10);
  if (sunset <= today) refuse(`its x-sunset, ${sunset}, must be still to come: remove the operation or move the date`);
}

/** A day that the calendar has (RFC 3339, full-date): `Date` alone takes 30 February for 2 March. */
function isDate(text) {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}
