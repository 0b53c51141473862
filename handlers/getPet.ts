import { handle, refuse } from 'contract-first';

export default handle('getPet', async ({ params, pets }) => {
  const pet = await pets.get(params.petId);
  return pet ? { status: 200, body: pet } : refuse('pet_not_found', `No pet has the id ${params.petId}.`);
});
