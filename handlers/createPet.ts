import { handle, refuse } from '#engine';

export default handle('createPet', async ({ body, once, pets, urlOf }) => {
  const created = once ? await pets.createOnce(body, once) : { record: await pets.create(body), isReplayed: false };
  if (!created) return refuse('idempotency_key_reused', 'The Idempotency-Key was sent before with another body.');
  const { record: pet, isReplayed } = created;
  const Location = urlOf('getPet', { petId: pet.id });
  const headers = isReplayed ? { Location, 'Idempotency-Replayed': 'true' } : { Location };
  return { status: 201, body: pet, headers };
});
