import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import t from 'tap';
import type { Contract } from '../../../src/contract-first/engine/contract/contract.ts';
import { loadOurs, startService } from '../../service.ts';

t.test('while a server adds its routes, another OpenAPI validator still rejects invalid documents', async (t) => {
  const { contract } = await loadOurs();
  const validator = new Validator();
  const found: Promise<{ valid: boolean }>[] = [];
  const check = () => void found.push(validator.validate({ openapi: '3.1.1', nonsense: 1 }));
  let isOver = false;
  const checkOnAndOn = () => {
    if (found.length < 100) check();
    if (!isOver) setImmediate(checkOnAndOn);
  };
  checkOnAndOn();
  // If it validated this document, fastify-openapi-glue would refuse it. It would compile OpenAPI's own schema at each
  // start, only to check again what the build has checked.
  const unchecked = { ...contract, glueDocument: { ...contract.glueDocument, info: 7 } } as unknown as Contract;
  const addPlugins = async (app: FastifyInstance) => void app.addHook('onRoute', check);
  const { request } = await startService(t, { contract: unchecked, addPlugins });
  isOver = true;
  t.equal((await request('/v1/pets')).status, 200);
  const results = await Promise.all(found);
  t.ok(results.length > 3 && results.every(({ valid }) => !valid), `${results.length} checks`);
});
