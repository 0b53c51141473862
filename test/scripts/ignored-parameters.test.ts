import t from 'tap';
import { describeIgnored } from '../../scripts/ignored-parameters.ts';
import { load } from '../added-operations.ts';
import { edited } from '../edited-contract.ts';

t.test('a parameter that a handler does not take is named, unless the handler says so', async (t) => {
  const schema = { type: 'string' };
  const yaml = edited(({ listPets, createPet }) => {
    listPets.parameters.push({ name: 'categoryId', in: 'query', schema }, { name: 'q', in: 'query', schema });
    createPet.parameters.push({ name: 'X-Tags', in: 'header', schema: { type: 'array', items: schema } });
  });
  const contract = await load(t, yaml);
  const describe = (list: string) =>
    describeIgnored(
      contract,
      (id) => ({ listPets: list, createPet: 'create(body, once)', getPet: 'get(params.petId)' })[id],
    );
  const ends = 'use it, or say in a comment why not';
  const header = `operation createPet: handlers/createPet.ts does not take header.X-Tags: ${ends}`;
  t.strictSame(describe('const { limit, status } = query; query.after; // q: later'), [
    `operation listPets: handlers/listPets.ts does not take query.categoryId: ${ends}`,
    header,
  ]);
  t.strictSame(describe('await pets.list(query)'), [header]);
  t.strictSame(describe('export default handle(notImplemented)'), [header]);
  t.strictSame(
    describeIgnored(contract, () => undefined),
    [],
  );
});
