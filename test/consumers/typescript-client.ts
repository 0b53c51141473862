import { isInteger, parse, stringify } from 'lossless-json';
import createClient from 'openapi-fetch';
import type { components, paths } from './petstore.ts';

type Schemas = components['schemas'];

/** Its integers have 64 bits: a number would round those above 2^53. */
type Exact<T> = { [Name in keyof T]: T[Name] extends number ? bigint : T[Name] };
export type Pet = Exact<Schemas['Pet']>;
export type NewPet = Exact<Schemas['NewPet']>;

/** openapi-fetch would call JSON.parse and JSON.stringify. */
const EXACT = { parseAs: 'text', bodySerializer: (body: unknown) => stringify(body) as string } as const;
const read = (json: string) => parse(json, null, (digits) => (isInteger(digits) ? BigInt(digits) : Number(digits)));

/** What came of a request whose connection broke. */
const LOST = { data: undefined, error: undefined, response: undefined };

export function buildPetstore(origin: string, key: string) {
  const api = createClient<paths>({ baseUrl: `${origin}/v1`, headers: { authorization: `Bearer ${key}` } });

  return {
    /** Adds an animal exactly once: until there is an answer, it is sent again with the same key. */
    async add(pet: NewPet): Promise<Pet> {
      const params = { header: { 'Idempotency-Key': crypto.randomUUID() } };
      for (;;) {
        const sent = api.POST('/pets', { params, body: pet as never, ...EXACT });
        const { data, error, response } = await sent.catch(() => LOST);
        if (data) return read(data) as Pet;
        const isFinal = response && response.status < 500 && ![408, 429].includes(response.status);
        if (error && isFinal) throw new Error(`${error.code}: ${error.message}`);
        const seconds = Number(response?.headers.get('retry-after') ?? 1);
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      }
    },

    /** Every animal with this status: each page names the next one in its Link header, the last page does not. */
    async *list(status?: Schemas['PetStatus']): AsyncGenerator<Pet> {
      let after: string | undefined;
      do {
        const query = { status, after, limit: 100 };
        const { data, error, response } = await api.GET('/pets', { params: { query }, ...EXACT });
        if (error) throw new Error(`${error.code}: ${error.message}`);
        yield* read(data) as Pet[];
        after = response.headers.get('link')?.match(/[?&]after=([^&>]+)/)?.[1];
      } while (after);
    },
  };
}
