import { answer, handle, refuse } from 'contract-first';

export default handle('getPet', async ({ params, pets }) =>
  answer(200, await pets.get(params.petId), {
    absent: () => refuse('pet_not_found', `No pet has the id ${params.petId}.`),
  }),
);
