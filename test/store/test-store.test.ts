import t from 'tap';
import { openTestStore } from '../../src/contract-first/store/open-store.ts';
import { domain } from '../orders/domain.ts';
import * as orders from '../orders/transactions.ts';

t.test('a domain is tested in memory, with its transactions, without HTTP', async (t) => {
  const shop = openTestStore(domain, { orders });
  const { id: petId } = await shop.pets.create({ name: 'Rex', categoryId: 7n, status: 'available' });
  t.match(await shop.orders.place({ petId, price: 5n }), { petId });
  t.match(await shop.orders.place({ petId, price: 5n }), { refused: 'pet_not_available' });
  t.match((await shop.pets.get(petId))?.read(), { status: 'sold' });
});

t.test('each has records of its own, and a domain needs no transactions', async (t) => {
  const [one, other] = [openTestStore(domain), openTestStore(domain)];
  await one.pets.create({ name: 'Rex', categoryId: 7n });
  t.equal((await one.pets.list({ limit: 9 }))?.body.read().length, 1);
  t.equal((await other.pets.list({ limit: 9 }))?.body.read().length, 0);
});
