import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { findBrokenLinks } from '../../../src/contract-first/contract/checks/links.ts';
import { buildSunset } from '../../../src/contract-first/engine/replies/deprecation.ts';
import type { AnyHandler } from '../../../src/contract-first/engine/routes/handler.ts';
import type { Handlers } from '../../../src/contract-first/engine/routes/operations.ts';
import { handlers as ours } from '../../../src/generated/handlers.ts';
import { load, wordsOf } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { type Edit, edited } from '../../edited-contract.ts';
import { holdClock } from '../../held-clock.ts';
import { startServer } from '../../program.ts';
import { startService } from '../../service.ts';

const PET = { name: 'Rex', categoryId: 7 };
const CREATE = { method: 'POST', body: PET };

/** Returns a JavaScript module that moves the clock of the importing program to this day. */
const clockAt = (day: string) => `
  const Real = Date;
  const shift = Real.parse('${day}') - Real.now();
  globalThis.Date = class extends Real {
    constructor(...values) {
      if (values.length > 0) super(...values);
      else super(Real.now() + shift);
    }
    static now() {
      return Real.now() + shift;
    }
  };`;

t.test('the server notices if the sunset of an operation passes while the server runs', async (t) => {
  const clock = holdClock(t);
  const sunset = buildSunset(new Date(Date.now() + 100));
  t.equal(sunset.isPast, false);
  clock.pass(100);
  while (!sunset.isPast) await wait(10);
  t.equal(buildSunset(undefined).isPast, false);
});

t.test('after its sunset, a deprecated operation answers 410; all other operations keep working', async (t) => {
  const sunset = new Date('2026-11-21');
  const yaml = edited(({ getPet }) => {
    getPet['x-sunset'] = '2026-11-21';
  });
  const { request } = await startService(t, { contract: await load(t, yaml), yaml });
  const { headers } = await request('/v1/pets', CREATE);
  const url = headers.location as string;
  const gone = await request(url);
  const message = `This operation was served until ${sunset.toUTCString()}.`;
  t.strictSame(gone.body, { code: 'gone', message, status: 410 });
  t.equal(gone.headers.link, '</v1/pets>; rel="successor-version"');
  t.equal(gone.headers.sunset, sunset.toUTCString());
  t.equal((await request('/v1/pets/no-id')).status, 410);
  t.equal((await request(url, { key: null })).status, 401);
  t.equal((await request('/v1/pets', CREATE)).status, 201);
  t.equal(((await request('/v1/pets')).body as unknown[]).length, 2);
});

t.test("the pet store's deprecated getPet answers 410 from 5 December 2030", async (t) => {
  const file = join(t.testdir({ 'clock.mjs': clockAt('2030-12-05') }), 'clock.mjs');
  const { request } = await startServer(t, { shell: `export NODE_OPTIONS='--import=${file}'` });
  const { headers, status } = await request('/v1/pets/7');
  t.strictSame([status, headers.sunset], [410, 'Thu, 05 Dec 2030 00:00:00 GMT']);
  t.equal((await request('/v1/pets', CREATE)).status, 201);
});

/** Removes getPet, the links to it, and the example of its 400. */
const REMOVE: Edit = ({ paths, created, components }) => {
  delete components.examples.InvalidIdentifier;
  delete paths['/pets/{petId}'];
  delete created.links;
  delete created.headers.Location;
};

t.test(
  'if getPet is removed from the contract, the build reports links and handlers for getPet; other operations still work',
  async (t) => {
    const onlyPath = edited(({ paths }) => {
      delete paths['/pets/{petId}'];
    });
    t.strictSame(wordsOf(findBrokenLinks(await load(t, onlyPath))), [
      'operation createPet: response 201: link self: there is no operation getPet',
    ]);
    const yaml = edited(REMOVE);
    const contract = await load(t, yaml);
    await t.rejects(startService(t, { contract, yaml }), { message: /handlers\/getPet\.ts/ });

    const createPet: AnyHandler = async ({ body, pets }: Json) => ({ status: 201, body: await pets.create(body) });
    const handlers: Handlers = { listPets: ours.listPets, createPet };
    const { request } = await startService(t, { contract, yaml, handlers });
    for (let count = 0; count < 3; count++) t.equal((await request('/v1/pets', CREATE)).status, 201);
    const page = await request('/v1/pets?limit=2');
    t.equal((page.body as unknown[]).length, 2);
    const next = /<(.*)>/.exec(page.headers.link as string)?.[1] as string;
    t.strictSame((await request(next)).body, [{ id: 3, ...PET }]);
    t.match((await request('/v1/pets/1')).body, { code: 'route_not_found' });
    t.equal((await request('/v1/pets', { key: null })).status, 401);
    t.equal((await request('/v1/pets', { method: 'DELETE' })).headers.allow, 'GET, HEAD, POST');
    t.equal((await request('/readyz', { key: null })).status, 200);
    t.notMatch((await request('/openapi.json', { key: null })).text, 'petId');
  },
);
