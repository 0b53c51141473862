/** Every object in a request body is closed, at every level: a misspelt field is refused, never dropped unseen. */
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
        if (source.additionalProperties === false || source.unevaluatedProperties === false) return true;
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

function includes(type, name) {
  return [type].flat().includes(name);
}
