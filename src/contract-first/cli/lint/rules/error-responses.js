/** Every error has the one Error body, and its examples carry the status under which they are shown. */
import { follow, responsesOf } from '../references.js';

const ERROR = '#/components/schemas/Error';
const FIELDS = ['code', 'message', 'status'];

export default function errorResponses() {
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
          const place = location.child(['content', 'application/json', 'examples', name]);
          const example = follow(source, place, ctx);
          const shown = example.node.value?.status;
          if (isOf(shown, status)) continue;
          const message = `The example ${name} has the status ${shown}, and stands under ${status} of ${operation.operationId}.`;
          ctx.report({ message, location: place });
        }
      }
    },
  };
}

function isOf(shown, status) {
  return status === 'default' || new RegExp(`^${status.replace(/X/gi, '\\d')}$`).test(shown);
}
