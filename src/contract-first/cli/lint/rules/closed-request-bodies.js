/** Every object in a request body is closed, or a map of values, at every level: a misspelt field is refused, never dropped unseen. */
import { follow } from '../references.js';

const MESSAGE =
  'An object in a request body must be closed: add additionalProperties: false, or with allOf unevaluatedProperties: false.';

export default function closedRequestBodies() {
  return {
    RequestBody(body, ctx) {
      const seen = new Set();

      /** Checks a schema that values have, and those of their fields and items. */
      function checkValue(source, place) {
        const { node: schema, location } = follow(source, place, ctx);
        if (seen.has(place.pointer)) return;
        seen.add(place.pointer);
        if (!isClosed(source)) ctx.report({ message: MESSAGE, location });
        checkParts(schema, location);
      }

      function checkParts(source, place) {
        const { node: schema, location } = follow(source, place, ctx);
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

      /** Also where the value can be no object at all. */
      function isClosed(source) {
        if (!(source instanceof Object)) return source === false;
        if (source.additionalProperties === false || source.unevaluatedProperties === false || isMap(source))
          return true;
        if (source.type && !includes(source.type, 'object')) return true;
        if (source.enum || 'const' in source) return true;
        if (source.$ref) return isClosed(follow(source, ctx.location, ctx).node);
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
