import { handle } from '#engine';

export default handle('createPet', async ({ body, once, pets, urlOf }) => {
  const pet = await pets.create(body, { once });
  const Location = urlOf('getPet', { petId: pet.id });
  const headers = once?.isReplayed ? { Location, 'Idempotency-Replayed': 'true' } : { Location };
  return { status: 201, body: pet, headers };
});
