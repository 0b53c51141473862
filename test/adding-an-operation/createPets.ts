import type { Answer, Call } from '../src/handler.ts';

export default async function createPets({ body, store }: Call<'createPets'>): Promise<Answer<'createPets'>> {
  return { status: 201, body: await Promise.all(body.map((pet) => store.createPet(pet))) };
}
