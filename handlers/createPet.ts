import { handle } from 'contract-first';

export default handle('createPet', async ({ body, idempotency, pets, urlOf }) => {
  const pet = await pets.create(body, { idempotency });
  const Location = urlOf('getPet', { petId: pet.id });
  const headers = idempotency?.isReplayed ? { Location, 'Idempotency-Replayed': 'true' } : { Location };
  return { status: 201, body: pet, headers };
});
