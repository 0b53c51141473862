/** The pet store in TypeScript, with fetch, and lossless-json for integers of 64 bits. */
import { isInteger, parse, stringify } from 'lossless-json';
import type { components } from './petstore.ts';

const FIRST_WAIT = 500; // milliseconds before the second attempt; each further wait is twice as long
const ORIGIN = /^(https?:\/\/(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?(?:\/[\w.~-]+)*?)(?:\/v1)?\/*$/;
const PASSING = [408, 429, 500, 502, 503, 504]; // The other statuses from 300 on are final.

type Schemas = components['schemas'];
/** A number would round the integers above 2^53. */
type Exact<T> = { [Name in keyof T]: T[Name] extends number ? bigint : T[Name] };
export type Pet = Exact<Schemas['Pet']>;
export type NewPet = Exact<Schemas['NewPet']>;

/** Of each request, the times in milliseconds; `total` includes the waits between the attempts. */
export type Limits = { attempts?: number; timeout?: number; total?: number };

/** Of the service, or `no_answer` (status 0) and `bad_answer` where it did not speak. Report the request id. */
export class PetstoreError extends Error {
  declare readonly status: number;
  declare readonly code: string;
  declare readonly requestId: string | null;
  /** In milliseconds; infinite if another attempt would fail as well. */
  declare readonly retryAfter: number;

  constructor(message: string, details: Details, cause?: Error) {
    const text = `${details.status} ${details.code}: ${message} (request ${details.requestId})`;
    super(text.replace(/\p{Cc}+/gu, ' '), { cause });
    Object.assign(this, details);
  }
}
type Details = Pick<PetstoreError, 'status' | 'code' | 'requestId' | 'retryAfter'>;
/** As far as it has arrived; `cause` is why no more did. */
type Reply = { status: number; headers: Headers; text: string; cause?: Error & { code?: string } };

/** `url` is where the service is: `https://petstore.example`. */
export function buildPetstore(url: string, key: string, limits: Limits = {}) {
  const { attempts = 6, timeout = 10_000, total = 120_000 } = limits;
  const [, origin] = ORIGIN.exec(url) ?? [];
  if (!origin) throw new TypeError('The URL must be like https://petstore.example');
  check('The API key', key);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

  /** Until the reply is the declared one, by its status and its shape. */
  async function send<T>(query: string, init: RequestInit, status: number, isDeclared: (body: unknown) => body is T) {
    const end = performance.now() + total;
    for (let attempt = 1, wait = FIRST_WAIT; ; attempt++, wait *= 2) {
      const reply = await read(`${origin}/v1/pets${query}`, init, Math.min(timeout, end - performance.now()));
      const body = toJson(reply.text);
      if (!reply.cause && reply.status === status && isDeclared(body)) return { ...reply, body };
      const failure = toError(reply, key);
      const pause = failure.retryAfter + wait * (0.5 + Math.random() / 2);
      if (attempt >= attempts || performance.now() + pause >= end) throw failure;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  return {
    /** Adds an animal. `once` is a UUID of yours: sent again with it, even by another run, the animal is added once. */
    async add(pet: NewPet, once: string): Promise<Pet> {
      check('once', once);
      const init = { method: 'POST', headers: { ...headers, 'idempotency-key': once }, body: stringify(pet) as string };
      return (await send('', init, 201, isPet)).body;
    },

    /** Every animal, or those with this status: each page names the next one in its Link header. */
    async *list(status?: Schemas['PetStatus']): AsyncGenerator<Pet> {
      const read = new Set<string | undefined>(['']);
      for (let query: string | undefined = `?limit=100${status ? `&status=${status}` : ''}`; query; ) {
        const reply = await send(query, { headers }, 200, isPets);
        yield* reply.body;
        read.add(query);
        query = toNext(reply.headers.get('link') ?? '');
        if (read.has(query)) throw toError({ ...reply, cause: new Error('The next page was read before.') }, key);
      }
    },
  };
}

function check(name: string, text: string): void {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new TypeError(`${name} must have visible ASCII characters only`);
}

async function read(url: string, init: RequestInit, timeout: number): Promise<Reply> {
  const reply: Reply = { status: 0, headers: new Headers(), text: '' };
  const stop = new AbortController();
  // Node.js does not end while this timer waits: it does with the one of AbortSignal.timeout.
  const timer = setTimeout(() => stop.abort(new Error('The answer takes too long.')), timeout);
  try {
    // No redirects: the key is for one server, and a create would become a read.
    const { status, headers, body } = await fetch(url, { ...init, redirect: 'manual', signal: stop.signal });
    Object.assign(reply, { status, headers });
    const utf8 = new TextDecoder('utf-8', { fatal: true });
    for await (const bytes of body ?? []) {
      reply.text += utf8.decode(bytes, { stream: true });
      if (reply.text.length > 10_000_000) throw new Error('The answer is too long.');
    }
    reply.text += utf8.decode();
  } catch (error) {
    reply.cause = (error as { cause?: Error }).cause ?? (error as Error);
  } finally {
    clearTimeout(timer);
  }
  return reply;
}

function toJson(text: string): unknown {
  try {
    return parse(text, null, (digits) => (isInteger(digits) ? BigInt(digits) : Number(digits)));
  } catch {
    return undefined;
  }
}

const isInt64 = (value: unknown) => typeof value === 'bigint' && BigInt.asIntN(64, value) === value;
const isPets = (body: unknown): body is Pet[] => Array.isArray(body) && body.every(isPet);

function isPet(body: unknown): body is Pet {
  const { id, name, categoryId, status = '' } = Object(body);
  return isInt64(id) && isInt64(categoryId) && typeof name === 'string' && typeof status === 'string';
}

function toError({ status, headers, text, cause }: Reply, key: string): PetstoreError {
  const shown = text.replaceAll(key, '[key]'); // A gateway's page may show the request.
  const { code, message, status: repeated } = Object(toJson(shown));
  // No such server, or the certificate is wrong.
  const isHopeless = status === 0 && /ENOTFOUND|CERT|SELF_SIGNED|UNABLE_TO/.test(cause?.code ?? '');
  const isFinal = isHopeless || (status >= 300 && !PASSING.includes(status));
  const retryAfter = isFinal ? Infinity : toWait(headers.get('retry-after') ?? '');
  const details = { status, code, requestId: headers.get('x-request-id'), retryAfter };
  const isDeclared = status >= 400 && typeof code === 'string' && typeof message === 'string';
  if (isDeclared && Number(repeated) === status) return new PetstoreError(message, details, cause);
  details.code = status === 0 ? 'no_answer' : 'bad_answer';
  const why = `${cause ?? 'The answer is none of the service.'}${text && ` It begins: ${shown.slice(0, 200)}`}`;
  return new PetstoreError(why, details, cause);
}

/** The query of the next page, for the same server; empty if the link lacks a query, and undefined on the last page. */
function toNext(link: string): string | undefined {
  const next = /<[^>?]*(?:(\?[\w.~%&=+-]+)|[^>]*)>[^<]*\brel="?next\b/.exec(link);
  return next ? (next[1] ?? '') : undefined;
}

/** Milliseconds, from seconds or a date in one of three forms (RFC 9110, section 10.2.3); 0 for other texts. */
function toWait(retryAfter: string): number {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const date = Date.parse(retryAfter.replace(/( GMT)?$/, ' GMT'));
  return Math.max(0, (date || 0) - Date.now());
}
