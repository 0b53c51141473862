import { notFound } from '../src/errors.ts';
import type { Answer, Call } from '../src/handler.ts';

export default async function getPet({ params, store }: Call<'getPet'>): Promise<Answer<'getPet'>> {
  const pet = await store.getPet(params.petId);
  return pet ? { status: 200, body: pet } : notFound('pet_not_found', `No pet has the id ${params.petId}.`);
}
