import { isInteger, parse } from 'lossless-json';
import createClient from 'openapi-fetch';
import type { components, paths } from './petstore.ts';

type Schemas = components['schemas'];

/** What came of a request whose connection broke. */
const LOST = { data: undefined, error: undefined, response: undefined };

export function buildPetstore(origin: string, key: string) {
  const api = createClient<paths>({ baseUrl: `${origin}/v1`, headers: { authorization: `Bearer ${key}` } });

  return {
    /** Adds an animal exactly once: until there is an answer, it is sent again with the same key. */
    async add(pet: Schemas['NewPet']): Promise<Schemas['Pet']> {
      const params = { header: { 'Idempotency-Key': crypto.randomUUID() } };
      for (;;) {
        const { data, error, response } = await api.POST('/pets', { params, body: pet }).catch(() => LOST);
        if (data) return data;
        const isFinal = response && response.status < 500 && ![408, 429].includes(response.status);
        if (isFinal) throw new Error(`${error.code}: ${error.message}`);
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    },

    /** Every animal with this status: each page names the next one in its Link header, the last page does not. */
    async *list(status: Schemas['PetStatus']): AsyncGenerator<Schemas['Pet']> {
      let after: string | undefined;
      do {
        const { data, error, response } = await api.GET('/pets', { params: { query: { status, after } } });
        if (error) throw new Error(`${error.code}: ${error.message}`);
        yield* data;
        after = response.headers.get('link')?.match(/[?&]after=([^&>]+)/)?.[1];
      } while (after);
    },

    /** One animal with every digit of its integers: JSON.parse, and so openapi-fetch, rounds those above 2^53. */
    async getExact(petId: number): Promise<unknown> {
      const { data, error } = await api.GET('/pets/{petId}', { params: { path: { petId } }, parseAs: 'text' });
      if (error) throw new Error(`${error.code}: ${error.message}`);
      return parse(data, null, (digits) => (isInteger(digits) ? BigInt(digits) : Number(digits)));
    },
  };
}
