import { answer, handle } from 'contract-first';

export default handle('createPet', async ({ body, idempotency, pets, urlOf }) =>
  answer(201, await pets.create(body, { idempotency }), {
    headers: ({ id }) => ({ Location: urlOf('getPet', { petId: id }) }),
    idempotency,
  }),
);
