import { refuse } from '../src/http/errors.ts';
import type { Answer, Call } from '../src/wiring/handler.ts';

export default async function getPet({ params, store }: Call<'getPet'>): Promise<Answer<'getPet'>> {
  const pet = await store.getPet(params.petId);
  return pet ? { status: 200, body: pet } : refuse('pet_not_found', `No pet has the id ${params.petId}.`);
}
