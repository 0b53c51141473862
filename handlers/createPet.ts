import { handle } from '../src/wiring/handler.ts';

export default handle('createPet', async ({ body, store, urlOf }) => {
  const pet = await store.createPet(body);
  return { status: 201, body: pet, headers: { Location: urlOf('getPet', { petId: pet.id }) } };
});
