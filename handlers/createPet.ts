import type { Answer, Call } from '../src/wiring/handler.ts';

export default async function createPet({ body, store, urlOf }: Call<'createPet'>): Promise<Answer<'createPet'>> {
  const pet = await store.createPet(body);
  return { status: 201, body: pet, headers: { Location: urlOf('getPet', { petId: pet.id }) } };
}
