/** Rules of schemas. */
import { resolveReference } from './references.js';

/** Every array must describe its items: otherwise, clients in typed languages get a list of anything. */
export function arrayItems() {
  return {
    Schema(schema, { location, report }) {
      if (schema.items !== undefined || schema.prefixItems || ![schema.type].flat().includes('array')) return;
      report({ message: 'An array must have items.', location });
    },
  };
}

/** Every integer must declare its width, so that clients in typed languages choose a type that is large enough. */
export function integerFormats() {
  return {
    Schema(schema, { location, report }) {
      if ([schema.type].flat().includes('integer') && !['int32', 'int64'].includes(schema.format)) {
        report({ message: 'An integer must have a format: int32 or int64.', location });
      }
    },
  };
}

/** An enum must not repeat a value, nor an operation a tag: the second one would be ignored. */
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
 * Every object in a request body must be closed, or a map of values, at every level. So a misspelt field is a 400, and is not dropped
 * silently.
 */
export function closedRequestBodies() {
  return {
    RequestBody(body, ctx) {
      const seen = new Set();

      /** Checks the schema of a value, and those of its fields and items. */
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

      /** Whether the schema is closed; also true if the value can never be an object. */
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

/** Whether fields of any name have values of one schema. */
function isMap({ additionalProperties: values }) {
  return Object.keys(Object(values)).length > 0;
}

function includes(type, name) {
  return [type].flat().includes(name);
}
