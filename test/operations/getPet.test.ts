import t from 'tap';
import { startService } from '../service.ts';

t.test('GET /pets/{petId} returns the pet with exactly the fields that it was created with', async (t) => {
  const { request } = await startService(t);
  await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7, status: 'sold' } });
  await request('/v1/pets', { method: 'POST', body: { name: 'Mia', categoryId: 7 } });
  const rex = await request('/v1/pets/1');
  t.equal(rex.status, 200);
  t.strictSame(rex.body, { id: 1, name: 'Rex', categoryId: 7, status: 'sold' });
  t.strictSame((await request('/v1/pets/2')).body, { id: 2, name: 'Mia', categoryId: 7 });
});

t.test('an id that no pet has is 404, near a pet and at both ends of the range', async (t) => {
  const { request } = await startService(t);
  await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
  for (const id of ['0', '2', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808']) {
    const { status, body } = await request(`/v1/pets/${id}`);
    t.equal(status, 404);
    t.strictSame(body, { code: 'pet_not_found', message: `No pet has the id ${id}.`, status: 404 });
  }
});

t.test('an id that is not written as a 64-bit integer is 400 and the message names petId', async (t) => {
  const { request } = await startService(t);
  for (const id of [
    'abc',
    '1.0',
    '0x1',
    '1e1',
    '+1',
    '01',
    '-0x1',
    '%201',
    '9223372036854775808',
    '-9223372036854775809',
  ]) {
    const { status, body } = await request(`/v1/pets/${id}`);
    t.equal(status, 400, id);
    t.match(body, { code: 'invalid_request', message: /^path\.petId must be a 64-bit integer/ });
  }
});

t.test('every reply of the deprecated operation says since when, until when, and what to use instead', async (t) => {
  const { request } = await startService(t);
  await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
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
});

t.test('HEAD /pets/{petId} is the reply to GET without its body', async (t) => {
  const { request } = await startService(t);
  await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
  const { headers } = await request('/v1/pets/1');
  const head = await request('/v1/pets/1', { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(head.headers['content-length'], headers['content-length']);
});
