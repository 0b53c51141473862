/** No value of an enum, and no tag, stands twice: one of them would mean nothing. */
export default function noRepetition() {
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
    report({ message: `${toName(value)} must not stand twice.`, location: location.child([key, String(index)]) });
  }
}
