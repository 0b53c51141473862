/**
 * Checks replies against the contract, without any code of the engine. The contract must declare a reply's status,
 * headers and body, and their values must fit its schemas. Objects may contain only fields that the contract names.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { ClosedSchemas } from './closed-schemas.ts';

// biome-ignore lint/suspicious/noExplicitAny: a type would promise the facts that the check must find out
type Json = any;

export interface CheckedReply {
  status: number;
  /** The headers, by names in lower case. */
  headers: Record<string, string>;
  text: string;
}

/** The fields of a security scheme that determine where a request contains its key. */
export interface SecurityScheme {
  scheme?: string;
  in?: 'header' | 'query' | 'cookie';
  name?: string;
}

/**
 * Headers of HTTP itself, and security headers for browsers. A contract need not declare them (RFC 9110, 9111, 9112;
 * OWASP's REST list).
 */
const HTTP_HEADERS = [
  ...'accept accept-encoding allow cache-control connection content-length content-security-policy'.split(' '),
  ...'content-type date keep-alive transfer-encoding vary x-content-type-options'.split(' '),
];
/** Headers that every reply must have. */
const SECURITY = {
  'cache-control': /^no-(store|cache)$/,
  'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
  'x-content-type-options': /^nosniff$/,
};
/** Headers that the server adds itself. A contract that is not complete need not declare them. */
const OUR_HEADERS =
  'deprecation link ratelimit ratelimit-policy retry-after sunset www-authenticate x-request-id'.split(' ');
const INT64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

export class ContractCheck {
  readonly document: Json;
  readonly prefix: string;
  /**
   * `validateSchema: false` skips the check of the schemas themselves. The lint already checks them, and compiling the
   * meta-schema would take longer than everything else.
   */
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, multipleOfPrecision: 9 });
  readonly #isComplete: boolean;
  readonly #schemas: ClosedSchemas;
  readonly #validators = new Map<string, ValidateFunction>();
  /** The paths of the contract. Paths with fewer parameters are first: `/books/mine` before `/books/{id}`. */
  readonly #paths: { template: string; item: Json; segments: RegExp[] }[];

  /**
   * If `isComplete` is true, the contract must declare everything that the server sends. Otherwise it may omit the
   * headers and errors that the server adds. If `isOpen` is true, a reply may contain fields that the contract does not
   * name, unless their schema forbids other fields.
   */
  constructor(yaml: string, { isComplete = false, isOpen = false } = {}) {
    // JSON is also YAML, but the YAML parser is slower than JSON.parse.
    this.document = yaml.startsWith('{') ? JSON.parse(yaml) : parse(yaml);
    this.prefix = prefixOf(this.document);
    this.#isComplete = isComplete;
    const paths = Object.entries<Json>(this.document.paths ?? {});
    this.#paths = paths
      .toSorted(([one], [other]) => one.split('{').length - other.split('{').length)
      .map(([template, item]) => ({ template, item, segments: toSegments(this.prefix + template) }));
    addFormats.default(this.#ajv);
    this.#ajv.addFormat('decimal', true);
    this.#ajv.addKeyword({
      keyword: 'x-extensible-enum',
      validate: (codes: unknown[], data: unknown) => codes.includes(data),
    });
    const document = structuredClone(this.document);
    this.#schemas = new ClosedSchemas(document, isOpen);
    this.#ajv.addSchema(document, 'contract');
  }

  /** True if the contract describes the request, so that its reply is checked. */
  isOperation(method: string, url: string): boolean {
    return this.#operationOf(method, url) !== undefined;
  }

  /**
   * Returns the security schemes that a request of the operation needs together. If the operation offers alternatives,
   * returns the schemes of the first alternative. Returns none for a request that the contract does not describe.
   */
  schemesOf(method: string, url: string): SecurityScheme[] {
    const { operation } = this.#operationOf(method, url) ?? {};
    const { security = [] } = this.document;
    const needed: Json[] = operation === undefined ? [] : (operation.security ?? security);
    const [first = {}] = needed.filter((requirement) => Object.keys(requirement).length > 0);
    return Object.keys(first).map((name) => this.#resolve(`/components/securitySchemes/${escapePointer(name)}`).value);
  }

  /** Returns the problems of a reply. The list is empty if the reply fits the contract. */
  problemsOf(method: string, url: string, reply: CheckedReply): string[] {
    const unsafe = Object.entries(SECURITY).filter(([name, value]) => !value.test(reply.headers[name] ?? ''));
    return [...unsafe.map(([name]) => `${name} is not safe`), ...this.#contractProblems(method, url, reply)];
  }

  #contractProblems(method: string, url: string, { status, headers, text }: CheckedReply): string[] {
    const pointer = this.#responseOf(method, url, status);
    if (!this.#isComplete && status >= 400 && !this.#isDescribed(pointer)) return [];
    if (!pointer) return status < 400 ? [] : [...this.#bodyProblems('/components/schemas/Error', text, status)];
    if (pointer === 'undocumented') return [`status ${status} is not documented for ${method} ${url}`];
    const response = this.#resolve(pointer);
    const problems = this.#headerProblems(response.value.headers ?? {}, headers);
    const type = headers['content-type']?.split(';')[0] as string;
    const ranges = Object.keys(response.value.content ?? {});
    if (ranges.length === 0) return text === '' && !type ? problems : [...problems, 'a body is not documented'];
    const range = ranges.find((name) => isInRange(type, name));
    if (range === undefined) return [...problems, `content type ${type} is not documented`];
    if (method === 'HEAD') return text === '' ? problems : [...problems, 'the reply to HEAD has a body'];
    if (!/[/+]json$/.test(type)) return problems;
    const schema = `${response.pointer}/content/${escapePointer(range)}`;
    if (response.value.content[range].schema === undefined) return problems;
    return [...problems, ...this.#bodyProblems(`${schema}/schema`, text, status)];
  }

  /** Finds the operation of a request. Returns undefined if the contract does not contain its path or method. */
  #operationOf(method: string, url: string): { pointer: string; operation: Json } | undefined {
    const segments = (url.split('?')[0] as string).split('/').map(decode);
    const name = (method === 'HEAD' ? 'GET' : method).toLowerCase();
    const isAt = (patterns: RegExp[]) =>
      patterns.length === segments.length &&
      patterns.every((pattern, index) => pattern.test(segments[index] as string));
    const found = this.#paths.find(({ segments: patterns, item }) => item[name] && isAt(patterns));
    return found && { pointer: `/paths/${escapePointer(found.template)}/${name}`, operation: found.item[name] };
  }

  /**
   * Returns the JSON Pointer to the response for this status, or `undocumented` if the operation does not declare the
   * status. Returns undefined if the contract does not contain the path or method.
   */
  #responseOf(method: string, url: string, status: number): string | undefined {
    const { pointer, operation } = this.#operationOf(method, url) ?? {};
    if (pointer === undefined) return undefined;
    const { responses = {} } = operation;
    const own = [String(status), `${String(status)[0]}XX`].find((key) => responses[key]);
    const key = own ?? (responses.default && status >= 400 ? 'default' : undefined);
    return key ? `${pointer}/responses/${key}` : 'undocumented';
  }

  #isDescribed(pointer: string | undefined): boolean {
    return pointer !== undefined && pointer !== 'undocumented' && this.#resolve(pointer).value.content !== undefined;
  }

  #resolve(pointer: string): { pointer: string; value: Json } {
    const keys = pointer.slice(1).split('/').map(unescapePointer);
    const value = keys.reduce((node, key) => node[key], this.document);
    return value.$ref ? this.#resolve(value.$ref.slice(1)) : { pointer, value };
  }

  #headerProblems(declared: Record<string, Json>, headers: Record<string, string>): string[] {
    const problems: string[] = [];
    for (const [name, source] of Object.entries(declared)) {
      const header = source.$ref ? this.#resolve(source.$ref.slice(1)).value : source;
      const text = headers[name.toLowerCase()];
      if (text === undefined && header.required) problems.push(`header ${name} is missing`);
      if (text === undefined) continue;
      const { schema = {}, content } = header;
      const isNumber = [schema.type].flat().some((type) => type === 'integer' || type === 'number');
      const value = content?.['application/json'] ? JSON.parse(text) : isNumber ? Number(text) : text;
      if (!this.#ajv.validate(content?.['application/json'].schema ?? schema, value))
        problems.push(`header ${name}: ${this.#ajv.errorsText()}`);
    }
    const known = [
      ...HTTP_HEADERS,
      ...(this.#isComplete ? [] : OUR_HEADERS),
      ...Object.keys(declared).map((name) => name.toLowerCase()),
    ];
    for (const name of Object.keys(headers)) {
      if (!known.includes(name)) problems.push(`header ${name} is not documented`);
    }
    return problems;
  }

  #bodyProblems(pointer: string, text: string, status: number): string[] {
    const problems: string[] = [];
    const body = JSON.parse(text);
    const validate =
      this.#validators.get(pointer) ??
      this.#ajv.compile(this.#schemas.close({ $ref: `contract#${encodeURI(pointer)}` }));
    this.#validators.set(pointer, validate);
    if (!validate(body)) problems.push(`body: ${this.#ajv.errorsText(validate.errors)}: ${text}`);
    if (this.#isComplete && status >= 400 && body.status !== status)
      problems.push(`body.status is ${body.status}, the reply's is ${status}`);
    for (const [digits] of text.replace(/"(?:[^"\\]|\\.)*"/g, '""').matchAll(/-?\d{16,}/g)) {
      if (BigInt(digits) < INT64.least || BigInt(digits) > INT64.most) problems.push(`${digits} is no 64-bit integer`);
    }
    return problems;
  }
}

/** Returns the path of the first server, with the defaults of its variables: `/v1`. */
function prefixOf({ servers }: Json): string {
  const { url = '', variables = {} } = servers?.[0] ?? {};
  const filled: string = url.replace(/\{([^{}]*)\}/g, (_: string, name: string) => variables[name].default);
  return filled.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/]*/i, '').replace(/\/$/, '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Converts a path of the contract to a pattern for each decoded segment. A parameter matches any text but an empty one.
 */
const toSegments = (template: string): RegExp[] =>
  template
    .replace(/#.*/, '')
    .split('/')
    .map((segment) => {
      const literals = segment.split(/\{[^{}]*\}/).map((text) => decode(text).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
      return new RegExp(`^${literals.join('.+')}$`, 's');
    });

/** True if the type of a reply matches the media type in the contract. A range matches only application/json. */
function isInRange(type: string | undefined, name: string): boolean {
  const declared = name.split(';')[0]?.trim().toLowerCase();
  return declared === type || (/^(\*|application)\/\*$/.test(String(declared)) && type === 'application/json');
}

const escapePointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
const unescapePointer = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~');
