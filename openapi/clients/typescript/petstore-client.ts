/** The pet store in TypeScript, with openapi-fetch, and lossless-json for integers of 64 bits. */
import { isInteger, parse, stringify } from 'lossless-json';
import createClient from 'openapi-fetch';
import type { components, paths } from './petstore.ts';

const ATTEMPTS = 6; // of each request, the first one included
const TIMEOUT = 10_000; // milliseconds, of each attempt
const FIRST_WAIT = 500; // milliseconds before the second attempt; each further wait is twice as long
const LONGEST_WAIT = 60_000; // milliseconds; who is told to wait for longer gets the error instead
const PASSING = [200, 201, 408, 429, 500, 502, 503, 504]; // All others are final; with 200 and 201, it was broken.

type Schemas = components['schemas'];
/** A number would round the integers above 2^53. */
type Exact<T> = { [Name in keyof T]: T[Name] extends number ? bigint : T[Name] };
export type Pet = Exact<Schemas['Pet']>;
export type NewPet = Exact<Schemas['NewPet']>;

/** Of the service, or `no_answer` (status 0) and `bad_answer` where it did not speak. Report the request id. */
export class PetstoreError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  /** In milliseconds; infinite where another attempt would fail, too. */
  readonly retryAfter: number;

  constructor(status: number, told: { code: string; message: string }, requestId: string | null, retryAfter: number) {
    super(`${status} ${told.code}: ${told.message} (request ${requestId})`);
    this.status = status;
    this.code = told.code;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** `url` is where the service is: `https://petstore.example`. */
export function buildPetstore(url: string, key: string) {
  if (!/^https?:\/\//.test(url)) throw new TypeError(`The URL must begin with https:// or http://, unlike ${url}`);
  const headers = { authorization: `Bearer ${key}` };
  // No redirects: the key is for one server, and a create would become a read.
  const api = createClient<paths>({ baseUrl: `${url}/v1`, headers, redirect: 'manual' });

  return {
    /** Adds an animal. `once` is a UUID of yours: sent again with it, also by another run, the animal is added once. */
    async add(pet: NewPet, once: string): Promise<Pet> {
      const params = { header: { 'Idempotency-Key': once } };
      return (await send<Pet>((how) => api.POST('/pets', { params, body: pet as never, ...how }))).value;
    },

    /** Every animal, or those with this status: each page names the next one in its Link header. */
    async *list(status?: Schemas['PetStatus']): AsyncGenerator<Pet> {
      let after: string | undefined;
      do {
        const query = { status, after, limit: 100 };
        const page = await send<Pet[]>((how) => api.GET('/pets', { params: { query }, ...how }));
        yield* page.value;
        after = /[?&]after=([^&>]+)[^>]*>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
      } while (after);
    },
  };
}

/** openapi-fetch would call JSON.parse and JSON.stringify. */
const EXACT = { parseAs: 'text', bodySerializer: (body: unknown) => stringify(body) as string } as const;

type Request = (how: typeof EXACT & { signal: AbortSignal }) => Promise<Sent>;
type Sent = { data?: string; error?: unknown; response: Response };
type Answer<T> = { value: T; headers: Headers };

async function send<T>(request: Request): Promise<Answer<T>> {
  for (let attempts = 1, wait = FIRST_WAIT; ; attempts++, wait *= 2) {
    try {
      return await attempt<T>(request);
    } catch (failure) {
      const isFinal = !(failure instanceof PetstoreError) || failure.retryAfter > LONGEST_WAIT;
      if (isFinal || attempts === ATTEMPTS) throw failure;
      await new Promise((resolve) => setTimeout(resolve, failure.retryAfter + wait * (0.5 + Math.random() / 2)));
    }
  }
}

async function attempt<T>(request: Request): Promise<Answer<T>> {
  const signal = AbortSignal.timeout(TIMEOUT);
  const { data, error, response } = await request({ ...EXACT, signal }).catch(({ message, cause }) => {
    // No such server, or a certificate of another one.
    const isFinal = /ENOTFOUND|CERT|SELF_SIGNED|UNABLE_TO/.test(cause?.code);
    throw new PetstoreError(0, { code: 'no_answer', message: String(cause ?? message) }, null, isFinal ? Infinity : 0);
  });
  const value = read(data);
  if (typeof value === 'object' && value) return { value: value as T, headers: response.headers };
  const { code = 'bad_answer', message = 'The answer is none of the service.' } = Object(error);
  const retryAfter = PASSING.includes(response.status) ? toWait(response.headers.get('retry-after') ?? '') : Infinity;
  throw new PetstoreError(response.status, { code, message }, response.headers.get('x-request-id'), retryAfter);
}

function read(json = ''): unknown {
  try {
    return parse(json, null, (digits) => (isInteger(digits) ? BigInt(digits) : Number(digits)));
  } catch {
    return undefined;
  }
}

/** Milliseconds, from seconds or a date in one of three forms (RFC 9110, section 10.2.3); 0 where it is neither. */
function toWait(retryAfter: string): number {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const date = Date.parse(retryAfter.replace(/( GMT)?$/, ' GMT'));
  return Math.max(0, (date || 0) - Date.now());
}
