import { refuse } from '../src/engine/http/errors.ts';
import { handle } from '../src/engine/routes/handler.ts';

export default handle('getPet', async ({ params, pets }) => {
  const pet = await pets.get(params.petId);
  return pet ? { status: 200, body: pet } : refuse('pet_not_found', `No pet has the id ${params.petId}.`);
});
