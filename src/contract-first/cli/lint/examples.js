/** Rules for examples of bodies, parameters, headers and schemas. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { toCurrent } from '../../contract/read/normal-form.ts';
import { lookUp } from '../../engine/schema/keys.ts';
import { resolveReference } from './references.js';

const CONTRACT = 'contract';

/**
 * Validates schemas against the schema of JSON Schema. The contracts share this validator, because compiling the schema
 * of JSON Schema is the slowest step of this rule.
 */
const ofSchemas = new Ajv2020({ strict: false, allErrors: true, logger: false });
addFormats.default(ofSchemas);

/**
 * Builds the functions that check the examples of one contract. The caller adds the contract to `ajv` under the name
 * `CONTRACT`.
 */
function buildChecks(isClosed) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, meta: false });
  ajv.validateSchema = ofSchemas.validateSchema.bind(ofSchemas);
  addFormats.default(ajv);
  if (isClosed) ajv.addKeyword({ keyword: 'x-extensible-enum', validate: checkCode, errors: true });

  /** The compiled schemas, by reference. Most replies refer to the same few schemas, which are compiled only once. */
  const validators = new Map();

  function compile(source, position) {
    const isReference = source.$ref?.startsWith('#') && Object.keys(source).length === 1;
    const $ref = isReference ? source.$ref : encodeURI(position.pointer);
    const own = { $ref: CONTRACT + $ref, ...(isClosed && { unevaluatedProperties: false }) };
    const validate = validators.get($ref) ?? ajv.compile(own);
    validators.set($ref, validate);
    return validate;
  }

  function check(value, validator, position, kind, ctx) {
    try {
      const validate = validator();
      if (validate(value)) return;
      const problems = validate.errors.map(describeError);
      ctx.report({ message: `The ${kind} does not fit its schema: ${problems.join('; ')}.`, location: position });
    } catch (error) {
      ctx.report({ message: `The ${kind} cannot be checked: ${error.message}.`, location: position });
    }
  }

  return { ajv, compile, check };
}

/**
 * The rule `examples`: every example and default must fit its schema, including formats. With the option
 * `allowAdditionalProperties: false`, which Redocly's own rules also have, an example may contain only fields that the
 * schema names. With the option, an example may also contain only listed codes of an `x-extensible-enum`.
 */
export function examples({ allowAdditionalProperties = true }) {
  const isClosed = !allowAdditionalProperties;
  const { ajv, compile, check } = buildChecks(isClosed);

  /** Checks the examples of a body, a parameter or a header. */
  function checkExamples(node, ctx) {
    const { location } = ctx;
    if (!node.schema) return;
    const validator = () => compile(node.schema, location.child('schema'));
    if ('example' in node) check(node.example, validator, location.child('example'), 'example', ctx);
    for (const [name, source] of Object.entries(node.examples ?? {})) {
      const { node: example } = resolveReference(source, location, ctx);
      if (!('value' in example)) continue;
      check(example.value, validator, location.child(['examples', name]), `example ${name}`, ctx);
    }
  }

  return {
    Root(root) {
      const current = String(root.openapi).startsWith('3.0.') ? toCurrent(root) : structuredClone(root);
      withoutOneWay(current, current);
      ajv.addSchema(isClosed ? closeValues(current) : current, CONTRACT);
    },
    MediaType: checkExamples,
    Parameter: checkExamples,
    Header: checkExamples,
    Schema(schema, ctx) {
      const { location } = ctx;
      const validator = () => compile(schema, location);
      if ('example' in schema) check(schema.example, validator, location.child('example'), 'example', ctx);
      if ('default' in schema) check(schema.default, validator, location.child('default'), 'default', ctx);
      for (const [index, example] of (schema.examples ?? []).entries()) {
        check(example, validator, location.child(['examples', String(index)]), 'example', ctx);
      }
    },
  };
}

/**
 * The rule `header-examples`: if the body of a reply has named examples, each required header must have examples with
 * the same names. Specmatic and mock servers combine the examples of one name into a reply.
 */
export function headerExamples() {
  return { Response: checkHeaders };
}

function checkHeaders(response, ctx) {
  const names = Object.values(response.content ?? {}).flatMap(({ examples }) => Object.keys(examples ?? {}));
  for (const [name, source] of Object.entries(response.headers ?? {})) {
    const location = ctx.location.child(['headers', name]);
    const { node: header } = resolveReference(source, location, ctx);
    const missing = names.filter((example) => header.required && !header.examples?.[example]);
    if (missing.length === 0) continue;
    ctx.report({
      message: `The required header ${name} has no example named ${missing.join(', ')}: its examples have one for each example of the body, by the same name.`,
      location,
    });
  }
}

/** Makes read-only and write-only fields optional, because an example of a schema may show a request or a reply. */
function withoutOneWay(node, root) {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node.required) && node.properties instanceof Object) {
    node.required = node.required.filter((name) => {
      const field = node.properties[name];
      const { readOnly, writeOnly } = { ...lookUp(root, field?.$ref), ...field };
      return !readOnly && !writeOnly;
    });
  }
  for (const child of Object.values(node)) withoutOneWay(child, root);
}

/**
 * Closes the schemas of items and fields, so that an unknown field in an example is an error. Subschemas of `allOf`
 * stay open.
 */
function closeValues(node) {
  if (typeof node !== 'object' || node === null) return node;
  for (const schema of [node.items, ...Object.values(node.properties ?? {})]) {
    if (schema instanceof Object) schema.unevaluatedProperties ??= false;
  }
  for (const child of Object.values(node)) closeValues(child);
  return node;
}

function checkCode(codes, value) {
  if (codes.includes(value)) return true;
  checkCode.errors = [
    { keyword: 'enum', message: `must be a code of its x-extensible-enum, not ${value}`, params: {} },
  ];
  return false;
}

function describeError({ instancePath, message, params }) {
  const named = params.unevaluatedProperty ?? params.additionalProperty ?? params.allowedValues?.join(', ');
  const position = instancePath.slice(1).replaceAll('/', '.') || 'it';
  return `${position} ${message}${named ? `: ${named}` : ''}`;
}
