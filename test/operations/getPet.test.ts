import t from 'tap';
import { startService } from '../service.ts';

t.test('GET /pets/{petId} returns the pet with exactly the fields that the client sent to create it', async (t) => {
  const { client } = await startService(t);
  await client.createPet({ body: { name: 'Rex', categoryId: 7n, status: 'sold' } });
  await client.createPet({ body: { name: 'Mia', categoryId: 7n } });
  const rex = await client.getPet({ params: { petId: 1n } });
  t.equal(rex.status, 200);
  t.strictSame(rex.body, { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' });
  const { body } = await client.getPet({ params: { petId: 2n } });
  t.strictSame(body, { id: 2n, name: 'Mia', categoryId: 7n });
});

t.test(
  'GET /pets/{petId} with an unknown id gets 404, next to existing ids and at both ends of the int64 range',
  async (t) => {
    const { client } = await startService(t);
    await client.createPet({ body: { name: 'Rex', categoryId: 7n } });
    for (const id of [0n, 2n, -1n, 9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      const { status, body } = await client.getPet({ params: { petId: id } });
      t.equal(status, 404);
      t.strictSame(body, { code: 'pet_not_found', message: `No pet has the id ${id}.`, status: 404 });
    }
  },
);

t.test(
  'every reply of the deprecated getPet gives the dates of deprecation and sunset, and links to its successor',
  async (t) => {
    const { client, request } = await startService(t);
    await client.createPet({ body: { name: 'Rex', categoryId: 7n } });
    const replies = [
      await request('/v1/pets/1'),
      await request('/v1/pets/x'),
      await request('/v1/pets/1', { key: null }),
      await request('/v1/pets/2'),
      await request(`/v1/pets/1?${'x'.repeat(9000)}`),
    ];
    t.strictSame(
      replies.map(({ status }) => status),
      [200, 400, 401, 404, 414],
    );
    for (const { headers } of replies) {
      t.equal(headers.deprecation, `@${Date.UTC(2026, 10, 20) / 1000}`);
      t.equal(headers.sunset, 'Thu, 05 Dec 2030 00:00:00 GMT');
      t.equal(headers.link, '</v1/pets>; rel="successor-version"');
    }
  },
);
