/** Every integer says how wide it is, so that clients in typed languages choose a type that holds it. */
export default function integerFormats() {
  return {
    Schema(schema, { location, report }) {
      if ([schema.type].flat().includes('integer') && !['int32', 'int64'].includes(schema.format)) {
        report({ message: 'An integer must have a format: int32 or int64.', location });
      }
    },
  };
}
