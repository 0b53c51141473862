/** The edits for each kind of node of a contract: for each of its keys, the values that replace the present one. */
import { lookUp } from '../../src/contract-first/engine/schema/keys.ts';
import type { Json } from '../any-json.ts';

/**
 * Returns values to replace the present one; undefined removes it. They are grouped by likeness: a quick run takes one
 * of each group.
 */
type Changes = (value: Json, node: Json, contract: Json) => Json[][];

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const DAY = 86_400_000;
const NOTE = { description: 'One more.', schema: { type: 'string' } };
const BROKEN = { broken: true };
const OTHER_TYPES: Record<string, string[]> = {
  string: ['integer', 'boolean', 'object'],
  integer: ['string', 'number', 'boolean'],
  object: ['array', 'string'],
  array: ['object', 'string'],
};
const OTHER_FORMATS: Record<string, string> = { int32: 'int64', int64: 'int32', date: 'date-time' };
/** The values that an added default or enum gets, by type. */
const NEW_VALUES: Record<string, Json> = { string: 'Rex', integer: 7 };

const without = (node: Json, key: string) => Object.fromEntries(Object.entries(node).filter(([name]) => name !== key));
const renamed = (node: Json, from: string, to: string) =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key === from ? to : key, value]));
const eachRemoved = (node: Json) => Object.keys(node).map((key) => without(node, key));
const eachRenamed = (node: Json, rename: (name: string) => string) =>
  Object.keys(node)
    .filter((name) => !(rename(name) in node))
    .map((name) => renamed(node, name, rename(name)));

/** Misspells each of the engine's own extensions. */
const misspelt: Changes = (_, node) => {
  const ours = Object.keys(node).filter((name) => name.startsWith('x-'));
  return ours.length === 0 ? [] : [ours.map((name) => renamed(node, name, `x-${name.slice(2).replaceAll('-', '')}x`))];
};
const removed: Changes = (value) => (value === undefined ? [] : [[undefined]]);
const flag: Changes = (value = false) => [[!value]];
const number: Changes = (value) => (value === undefined ? [] : [[value + 1], [value - 1], [undefined]]);
/** Changes the number of one of the engine's extensions, also to values that it must not have. */
const extension: Changes = (value) =>
  value === undefined ? [] : [[value + 1], [value - 1], [undefined], [0, -1, 1.5], ['100']];
const components: Changes = (value = {}) => [eachRemoved(value)];
const broken: Changes = (value) => (value === undefined ? [] : [[BROKEN]]);
const security: Changes = (value) => [
  ...removed(value, undefined, undefined),
  ...[
    [],
    [{}],
    [{ otherAuth: [] }],
    [{ bearerAuth: [] }],
    [{ bearerAuth: ['admin'] }],
    [{ bearerAuth: ['not one'] }],
  ].map((requirements) => [requirements]),
];
/**
 * Changes the security of the whole contract. Without an operation that uses it this would have no effect, so there is
 * no edit then.
 */
const generalSecurity: Changes = (value, node, contract) => {
  const operations = Object.values<Json>(node.paths).flatMap((item) => METHODS.map((method) => item[method] ?? {}));
  const isUsed = operations.some(({ operationId, security: own }) => operationId && !own);
  return isUsed ? security(value, node, contract) : [];
};
const content: Changes = (value = {}) => [
  eachRenamed(value, () => 'text/plain'),
  [{ ...value, 'text/plain': { schema: { type: 'string' } } }],
];

function date(value: string | undefined): Json[][] {
  if (value === undefined) return [];
  return [[new Date(Date.parse(value) + DAY).toISOString().slice(0, 10)], ['soon'], ['2020-01-01'], [undefined]];
}

const otherIds = (id: string, { paths }: Json): string[] =>
  Object.values<Json>(paths)
    .flatMap((item) => Object.values<Json>(item).map(({ operationId }) => operationId))
    .filter((other) => other !== id);

/** Changes a bound, or adds one that is so tight that it must be noticed. */
function bound(type: string, added: (schema: Json) => number): Changes {
  return (value, schema) => {
    if (schema.type !== type) return [];
    return value === undefined ? [[added(schema)]] : number(value, schema, undefined);
  };
}

function list(added?: (schema: Json) => Json): Changes {
  return (value, schema) => {
    if (value === undefined) return added?.(schema) === undefined ? [] : [[[added(schema)]]];
    const others = value.map((_: Json, index: number) => value.toSpliced(index, 1));
    const renames = value.map((item: Json, index: number) => value.with(index, `${item}_x`));
    return [[undefined], [[...value, 'one_more']], others, renames];
  };
}

/** Edits that change several keys at once. */
function wholeSchema(_: Json, schema: Json): Json[][] {
  const exclusive = ['minimum', 'maximum'].map((key) =>
    key in schema ? [renamed(schema, key, `exclusiveM${key.slice(1)}`)] : [],
  );
  if (schema.type !== 'object') return exclusive;
  const { properties = {}, required = [] } = schema;
  const fields = Object.keys(properties);
  const rename = (name: string, to?: string) => ({
    ...schema,
    properties: to ? renamed(properties, name, to) : without(properties, name),
    ...(schema.required && { required: required.flatMap((other: string) => (other === name ? (to ?? []) : other)) }),
  });
  const added = { ...schema, properties: { ...properties, extra: { description: 'One more.', type: 'string' } } };
  return [
    ...exclusive,
    fields.map((name) => rename(name)),
    fields.map((name) => rename(name, `${name}X`)),
    [added],
    [{ ...added, required: [...required, 'extra'] }],
    ...['readOnly', 'writeOnly'].map((word) =>
      fields.map((name) => ({
        ...schema,
        properties: { ...properties, [name]: { ...properties[name], [word]: true } },
      })),
    ),
    fields.map((name) => ({
      ...schema,
      properties: { ...properties, [name]: { anyOf: [properties[name], { type: 'null' }], description: 'Or none.' } },
    })),
  ];
}

/** The version is in two places that must agree: `info.version`, and the prefix of every server. */
function wholeContract(_: Json, { info, servers, ...rest }: Json): Json[][] {
  const version = info.version.replace(/^\d+/, '9');
  const moved = servers.map(({ url, ...server }: Json) => ({ ...server, url: url.replace(/\/v\d+$/, '/v9') }));
  return [
    servers.map((_: Json, index: number) => ({ ...rest, info, servers: servers.with(index, moved[index]) })),
    [{ ...rest, info, servers: moved }],
    [{ ...rest, info: { ...info, version }, servers: moved }],
  ];
}

/**
 * A reply whose schema promises more than the component that it contains: fewer fields, more required fields, or
 * tighter bounds.
 */
function narrowed(schema: Json, contract: Json): Json[] {
  const target = schema.$ref ? lookUp(contract, schema.$ref) : schema;
  if (target?.items) return narrowed(target.items, contract).map((items) => ({ ...target, items }));
  const { type, properties, required = [] } = target ?? {};
  if (type !== 'object' || !properties) return [];
  const [first = ''] = Object.keys(properties);
  const others = required.filter((name: string) => name !== first);
  const closed = { type, additionalProperties: false, properties: without(properties, first), required: others };
  const within = (keywords: Json) => ({ allOf: [schema], ...keywords });
  const tighter = Object.entries<Json>(properties).flatMap(([name, field]) => {
    const { type: of } = lookUp(contract, String(field.$ref)) ?? field;
    const bounds: Json = { string: [{ maxLength: 3 }], integer: [{ maximum: 5 }, { minimum: 1000 }] }[of as string];
    return (bounds ?? []).map((keywords: Json) => within({ properties: { [name]: keywords } }));
  });
  return [
    closed,
    within({ required: Object.keys(properties) }),
    within({ maxProperties: required.length }),
    ...tighter,
  ];
}

/** New parameters named like stored fields. A handler that accepts one and does not filter by it is wrong. */
const FILTERS = [
  { name: 'categoryId', in: 'query', ...NOTE, schema: { type: 'integer', format: 'int64' } },
  { name: 'q', in: 'query', ...NOTE },
  { name: 'X-Names', in: 'header', description: 'Several.', schema: { type: 'array', items: { type: 'string' } } },
];

export const EDITS = {
  contract: {
    '': wholeContract,
    openapi: () => [['3.0.3'], ['3.2.0']],
    jsonSchemaDialect: () => [['http://json-schema.org/draft-07/schema#']],
    servers: removed,
    security: generalSecurity,
    paths: pathsChanges,
  },
  info: { version: (value) => [[value.replace(/^\d+/, '9')]] },
  components: {
    schemas: components,
    responses: components,
    headers: components,
    examples: components,
    securitySchemes: components,
  },
  path: {
    '': (item) => {
      const methods = METHODS.filter((method) => item[method]);
      const other = METHODS.find((method) => !item[method]) as string;
      const repeated = methods.map((method) => ({ ...item, [other]: item[method] }));
      return [eachRemoved(item), methods.map((method) => renamed(item, method, other)), repeated];
    },
  },
  operation: {
    '': misspelt,
    operationId: (id, _, contract) => [[`${id}X`], [undefined], otherIds(id, contract).slice(0, 1)],
    security,
    deprecated: (value) => [[value ? undefined : true]],
    'x-deprecated-at': date,
    'x-sunset': date,
    'x-successor': (value, { operationId }, contract) =>
      value ? [otherIds(operationId, contract).filter((id) => id !== value), [undefined]] : [],
    parameters: (value = []) => [
      value.map((_: Json, index: number) => value.toSpliced(index, 1)),
      [[...value, { name: 'extra', in: 'query', required: false, ...NOTE }]],
      [[...value, { name: 'extra', in: 'query', required: true, ...NOTE }]],
      ...FILTERS.map((filter) => [[...value, filter]]),
    ],
    requestBody: removed,
    responses: (value) => [
      eachRemoved(value),
      eachRenamed(value, (status) => (/^\d+$/.test(status) ? String(Number(status) + 1) : '5XX')),
      [{ ...value, 418: { description: 'One more.' } }],
    ],
  },
  parameter: {
    '': misspelt,
    name: (value) => [[`${value}X`]],
    in: (value) => [['path', 'query', 'header', 'cookie'].filter((place) => place !== value)],
    required: flag,
    'x-opaque': removed,
    'x-idempotency-hours': extension,
    example: broken,
  },
  body: {
    '': misspelt,
    required: flag,
    'x-max-bytes': (value) => (value === undefined ? [[1000]] : extension(value, undefined, undefined)),
    content,
  },
  response: {
    headers: (value = {}) => [
      eachRemoved(value),
      eachRenamed(value, (name) => `${name}-X`),
      [{ ...value, 'X-Extra': { required: false, ...NOTE } }],
      [{ ...value, 'X-Extra': { required: true, ...NOTE } }],
    ],
    content: (value, response, contract) => [[undefined], ...content(value, response, contract)],
  },
  header: { required: flag, example: broken },
  media: {
    schema: (value, _, contract) => [...removed(value, _, contract), ...(value ? [narrowed(value, contract)] : [])],
    example: broken,
  },
  link: { operationId: (value) => [[`${value}X`]] },
  example: { value: broken },
  scheme: { scheme: () => [['basic']], type: () => [['oauth2']] },
  schema: {
    '': (value, schema, contract) => [...wholeSchema(value, schema), ...misspelt(value, schema, contract)],
    type: (type) => [[undefined], [[type, 'null']], OTHER_TYPES[type] ?? []],
    format: (value, { type }) => [
      ...(value ? [[undefined], [OTHER_FORMATS[value] ?? 'date']] : [type === 'string' ? ['date'] : []]),
      ['no-such-format'],
    ],
    minimum: (value, schema, contract) => [
      ...bound('integer', ({ exclusiveMinimum = 2 }) => exclusiveMinimum)(value, schema, contract),
      ...(value === undefined ? [] : [[-5]]),
    ],
    maximum: bound('integer', ({ exclusiveMaximum = 50 }) => exclusiveMaximum),
    exclusiveMinimum: bound('integer', ({ minimum = 2 }) => minimum),
    exclusiveMaximum: bound('integer', ({ maximum = 50 }) => maximum),
    minLength: bound('string', () => 2),
    maxLength: (value, schema, contract) => [
      ...bound('string', () => 2)(value, schema, contract),
      // This is longer than some texts that the server sends, and shorter than others.
      ...(schema.type === 'string' && value === undefined ? [[60]] : []),
    ],
    minItems: bound('array', () => 1),
    maxItems: bound('array', () => 1),
    multipleOf: (_, { type }) => (type === 'integer' ? [[2]] : []),
    pattern: (value, schema) => (schema.type === 'string' ? [['^[a-z]+$'], ...removed(value, schema, undefined)] : []),
    enum: list((schema) => schema.default ?? NEW_VALUES[schema.type]),
    'x-extensible-enum': list(),
    default: (value, { enum: values, type }) => {
      if (typeof value === 'number') return number(value, undefined, undefined);
      const added = values?.[0] ?? NEW_VALUES[type];
      return value !== undefined ? [[undefined]] : added === undefined ? [] : [[added]];
    },
    examples: (value = []) => [value.map((_: Json, index: number) => value.with(index, BROKEN))],
    required: (value = [], { type, properties = {} }) => {
      if (type !== 'object') return [];
      const optional = Object.keys(properties).filter((name) => !value.includes(name));
      return [
        [undefined],
        value.map((name: string) => value.filter((other: string) => other !== name)),
        optional.map((name) => [...value, name]),
      ];
    },
    readOnly: removed,
    writeOnly: removed,
    discriminator: (value) => {
      if (value === undefined) return [];
      const { propertyName, mapping = {} } = value;
      const mappings = [eachRemoved(mapping), eachRenamed(mapping, (name) => `${name}X`)];
      const changed = mappings.map((edits) => edits.map((mapping) => ({ ...value, mapping })));
      return [[undefined], [{ ...value, propertyName: `${propertyName}X` }], ...changed];
    },
    additionalProperties: (value, { type }) =>
      type === 'object' ? (value === undefined ? [[false]] : [[!value], [undefined]]) : [],
  },
  reference: {
    /**
     * Refers to the next component of the section. Which example is shown matters only to people, so examples are left
     * out.
     */
    $ref: (value, _, contract) => {
      const [, section, name] = /^#\/components\/(\w+)\/(.+)$/.exec(value) as unknown as [string, string, string];
      const names = Object.keys(contract.components[section]);
      const next = names[(names.indexOf(name) + 1) % names.length];
      return section === 'examples' ? [] : [[`#/components/${section}/${next}`]];
    },
  },
} satisfies Record<string, Record<string, Changes>>;

export type Kind = keyof typeof EDITS;

function pathsChanges(paths: Json): Json[][] {
  const withParameter = Object.keys(paths).filter((path) => path.includes('{'));
  return [
    eachRemoved(paths),
    eachRenamed(paths, (path) => `${path}-x`),
    eachRenamed(paths, (path) => `/deep${path}`),
    withParameter.map((path) => renamed(paths, path, path.replace(/\{(\w+)\}/, '{$1X}'))),
  ];
}
