/** Rules for schemas. */
import { resolveReference } from './references.js';

/**
 * The rule `array-items`: every array must describe its items. Otherwise, clients in typed languages get a list of
 * anything.
 */
export function arrayItems() {
  return {
    Schema(schema, { location, report }) {
      if (schema.items !== undefined || schema.prefixItems || ![schema.type].flat().includes('array')) return;
      report({ message: 'An array must have items.', location });
    },
  };
}

/**
 * The rule `integer-formats`: every integer must declare its width, so that clients in typed languages choose a large
 * enough type.
 */
export function integerFormats() {
  return {
    Schema(schema, { location, report }) {
      if ([schema.type].flat().includes('integer') && !['int32', 'int64'].includes(schema.format)) {
        report({ message: 'An integer must have a format: int32 or int64.', location });
      }
    },
  };
}

/** The rule `no-repetition`: an enum must not list a value twice, and the contract must not list a tag twice. */
export function noRepetition() {
  return {
    Root({ tags }, ctx) {
      const names = [tags].flat().map((tag) => tag?.name);
      checkEach(names, (name) => `The tag ${name}`, 'tags', ctx);
    },
    Schema(schema, ctx) {
      checkEach([schema.enum].flat(), (value) => `The value ${value} of an enum`, 'enum', ctx);
    },
  };
}

function checkEach(values, toName, key, { location, report }) {
  for (const [index, value] of values.entries()) {
    if (values.indexOf(value) === index) continue;
    report({ message: `${toName(value)} must not be repeated.`, location: location.child([key, String(index)]) });
  }
}

const MESSAGE =
  'An object in a request body must be closed: add additionalProperties: false, or with allOf unevaluatedProperties: false.';

/**
 * The rule `closed-request-bodies`: an object in a request body, at any level, must be closed, or a map with one schema
 * for all values. Then a request with a misspelt field is answered with 400. Otherwise the server would ignore the
 * field silently.
 */
export function closedRequestBodies() {
  return {
    RequestBody(body, ctx) {
      const seen = new Set();

      /** Checks the schema of a value, and the schemas of its fields and items. */
      function checkValue(source, position) {
        const { node: schema, location } = resolveReference(source, position, ctx);
        if (seen.has(position.pointer)) return;
        seen.add(position.pointer);
        if (!isClosed(source)) ctx.report({ message: MESSAGE, location });
        checkParts(schema, location);
      }

      function checkParts(source, position) {
        const { node: schema, location } = resolveReference(source, position, ctx);
        for (const [name, field] of Object.entries(schema.properties ?? {})) {
          checkValue(field, location.child(['properties', name]));
        }
        if (isMap(schema)) checkValue(schema.additionalProperties, location.child('additionalProperties'));
        if (includes(schema.type, 'array')) checkValue(schema.items ?? {}, location.child('items'));
        for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
          for (const [index, member] of (schema[keyword] ?? []).entries()) {
            checkParts(member, location.child([keyword, String(index)]));
          }
        }
      }

      /** True if the schema is closed, or if it does not allow any object that could have unknown fields. */
      function isClosed(source) {
        if (!(source instanceof Object)) return source === false;
        if (source.additionalProperties === false || source.unevaluatedProperties === false || isMap(source))
          return true;
        if (source.type && !includes(source.type, 'object')) return true;
        if (source.enum || 'const' in source) return true;
        if (source.$ref) return isClosed(resolveReference(source, ctx.location, ctx).node);
        return ['anyOf', 'oneOf'].some((keyword) => source[keyword]?.every(isClosed)) || source.allOf?.some(isClosed);
      }

      for (const [type, media] of Object.entries(body.content ?? {})) {
        checkValue(media?.schema ?? {}, ctx.location.child(['content', type, 'schema']));
      }
    },
  };
}

/** True if the schema describes a map: an object with fields of any name, and one schema for their values. */
function isMap({ additionalProperties: values }) {
  return Object.keys(Object(values)).length > 0;
}

function includes(type, name) {
  return [type].flat().includes(name);
}
