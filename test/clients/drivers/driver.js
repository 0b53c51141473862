/** Calls the client once for each line of the input, all at the same time, and prints the results. */
import { createInterface } from 'node:readline';
import { buildPetstore, PetstoreError } from './petstore-client.js';

const toText = (pet) => `${pet.id} ${pet.categoryId} ${pet.name} ${pet.status}`;

async function run({ url, key, once, name, limits }) {
  const pets = [];
  try {
    const petstore = buildPetstore(url, key, limits);
    if (name) pets.push(toText(await petstore.add({ name, categoryId: 2n ** 63n - 1n, status: 'sold' }, once)));
    else for await (const pet of petstore.list('pending')) pets.push(toText(pet));
    return { pets };
  } catch (error) {
    const { status, code, requestId, message, cause } = error;
    return {
      pets,
      error: { isOurs: error instanceof PetstoreError, status, code, requestId, message, cause: `${cause ?? ''}` },
    };
  }
}

createInterface(process.stdin).on('line', (line) => {
  const job = JSON.parse(line);
  run(job).then((result) => console.log(JSON.stringify({ job: job.job, ...result })));
});
