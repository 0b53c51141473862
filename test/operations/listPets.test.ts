import t from 'tap';
import { pagesFrom, type Service, startService } from '../service.ts';

const STATUSES = ['available', 'pending', 'sold', undefined] as const;

/** Creates pets 1, 2, 3, …: each gets the next status, and every fourth has none. */
async function addPets({ client }: Service, count: number) {
  for (let index = 0; index < count; index++) {
    const status = STATUSES[index % STATUSES.length];
    await client.createPet({
      body: { name: `Pet ${index + 1}`, categoryId: BigInt(index), ...(status && { status }) },
    });
  }
}

/** The ids on each page, from this URL to the last page. */
async function readPages({ request }: Service, url: string): Promise<number[][]> {
  const pages: number[][] = [];
  for await (const { body } of pagesFrom(request, url)) pages.push((body as { id: number }[]).map(({ id }) => id));
  return pages;
}

t.test('if no pets are stored, GET /pets returns an empty array without a link to a next page', async (t) => {
  const { client } = await startService(t);
  const { status, body, headers } = await client.listPets();
  t.equal(status, 200);
  t.strictSame(body, []);
  t.equal(headers.link, undefined);
});

t.test('GET /pets without a limit returns 20 pets, in the order in which they were created', async (t) => {
  const service = await startService(t);
  await addPets(service, 21);
  const [first, second] = await readPages(service, '/v1/pets');
  t.strictSame(
    first,
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  t.strictSame(second, [21]);
});

t.test('a client that follows the links between pages gets every pet once, with any limit', async (t) => {
  const service = await startService(t);
  await addPets(service, 12);
  for (const limit of [1, 5, 6, 11, 12, 13, 100]) {
    const pages = await readPages(service, `/v1/pets?limit=${limit}`);
    t.strictSame(pages.flat(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    t.equal(pages.length, Math.ceil(12 / limit));
  }
});

t.test('the status filter of GET /pets applies to every page, because the links between pages keep it', async (t) => {
  const service = await startService(t);
  await addPets(service, 12);
  t.strictSame(await readPages(service, '/v1/pets?status=available&limit=2'), [[1, 5], [9]]);
  t.strictSame(await readPages(service, '/v1/pets?limit=3&status=sold'), [[3, 7, 11]]);
});

t.test('a pet that is added while a client reads the pages appears on the last page', async (t) => {
  const service = await startService(t);
  await addPets(service, 3);
  const { headers } = await service.request('/v1/pets?limit=2');
  await addPets(service, 1);
  const next = headers.link?.match(/<(.*)>/)?.[1] as string;
  t.strictSame(await readPages(service, next), [[3, 4]]);
});

t.test('HEAD /pets sends the headers of GET /pets without the body', async (t) => {
  const service = await startService(t);
  await addPets(service, 3);
  const { headers } = await service.request('/v1/pets?limit=2');
  const head = await service.request('/v1/pets?limit=2', { method: 'HEAD' });
  t.equal(head.headers['content-length'], headers['content-length']);
  t.equal(head.headers.link, headers.link);
});
