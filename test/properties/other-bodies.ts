/** Generates bodies other than JSON: bytes, forms, and forms that break a rule. */
import fc, { type Arbitrary } from 'fast-check';
import { within } from './keywords.ts';
import type { Json, Operation, Parameter } from './operations.ts';
import { parameterBreaks, parameterValues } from './parameter-values.ts';

type Body = NonNullable<Operation['body']>;

/** A field of a form: its name and its texts, each of which is one part. */
type Field = [name: string, texts: (string | Uint8Array)[]];

export interface OtherBreak {
  rule: string;
  values: Arbitrary<{ body: Uint8Array; place: string }>;
}

const BOUNDARY = '__petstore__';

export const isJson = (type: string) => /[/+]json$/.test(type);
const isForm = (type: string) => type === 'multipart/form-data';
export const toContentType = (type: string) => (isForm(type) ? `${type}; boundary=${BOUNDARY}` : type);

const bytes = fc.uint8Array({ maxLength: 300 });

export function otherBodies({ type, schema }: Body): Arbitrary<Uint8Array> {
  return isForm(type) ? fieldsOf(schema).map(toForm) : bytes;
}

/** Generates an invalid form for each rule of its fields. Bytes have no rules. */
export function otherBreaks({ type, schema }: Body): OtherBreak[] {
  if (!isForm(type)) return [];
  const { properties = {}, required = [] } = schema;
  const breaks = Object.keys(properties).flatMap((name) => {
    const parameter = toParameter(name, properties[name]);
    const others = fieldsOf(schema, [name]);
    const rules = isFile(parameter) ? [] : within(`.${name}`, () => parameterBreaks(parameter));
    const broken = rules.map(({ rule, values }) => ({
      rule: `.${name} ${rule}`,
      values: fc.tuple(others, values).map(([fields, { text }]) => toBroken(fields, name, [text].flat())),
    }));
    const left = { rule: `.${name} required`, values: others.map((fields) => toBroken(fields, name, [])) };
    const twice = {
      rule: `.${name} repeated`,
      values: fc
        .tuple(others, textsOf(parameter))
        .map(([fields, texts]) => toBroken(fields, name, [...texts, ...texts])),
    };
    return [...broken, ...(required.includes(name) ? [left] : []), ...(parameter.list ? [] : [twice])];
  });
  const unknown = fieldsOf(schema).map((fields) => toBroken(fields, 'unknown', ['']));
  return [...breaks, { rule: 'unknown field', values: unknown }];
}

function toBroken(fields: Field[], name: string, texts: Field[1]) {
  return { body: toForm([...fields, [name, texts]]), place: `body.${name}` };
}

/** Generates the required fields and some of the optional ones, in any order. */
function fieldsOf({ properties = {}, required = [] }: Json, leaveOut: string[] = []): Arbitrary<Field[]> {
  const names = Object.keys(properties).filter((name) => !leaveOut.includes(name));
  const fields = names.map((name) => textsOf(toParameter(name, properties[name])).map((texts): Field => [name, texts]));
  const kept = fc.subarray(names.filter((name) => !required.includes(name)));
  return fc.tuple(fc.tuple(...fields), kept).chain(([written, chosen]) => {
    const sent = written.filter(([name]) => required.includes(name) || chosen.includes(name));
    return fc.shuffledSubarray(sent, { minLength: sent.length });
  });
}

function textsOf(parameter: Parameter): Arbitrary<Field[1]> {
  const { list, schema } = parameter;
  if (!isFile(parameter))
    return within(`.${parameter.name}`, () => parameterValues(parameter)).map((text) => [text].flat());
  const { minItems = 0, maxItems = minItems + 3 } = schema;
  return list ? fc.array(bytes, { minLength: minItems, maxLength: maxItems }) : bytes.map((file) => [file]);
}

const isFile = ({ list, schema }: Parameter) => (list ? schema.items : schema).format === 'binary';

/** Converts the field of a form to a parameter, because both have the same rules. */
function toParameter(name: string, schema: Json): Parameter {
  const list = schema.type === 'array' ? 'repeated' : undefined;
  return { name, in: 'query', required: false, isOpaque: false, isKept: false, schema, list };
}

/** Writes a multipart form (RFC 7578, section 4). */
function toForm(fields: Field[]): Uint8Array {
  const parts = fields.flatMap(([name, texts]) =>
    texts.flatMap((text) => [
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`,
      ...[text, '\r\n'],
    ]),
  );
  return Buffer.concat([...parts, `--${BOUNDARY}--\r\n`].map((part) => Buffer.from(part as string)));
}
