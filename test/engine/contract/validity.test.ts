import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { whileTrusted } from '../../../src/engine/contract/validity.ts';

const INVALID = {
  openapi: '3.1.0',
  info: { title: 'A tag is no text', version: '1' },
  paths: { '/a': { get: { tags: [1] } } },
};

t.test(
  'what fastify-openapi-glue validates once more passes at once, and nothing does that others validate',
  async (t) => {
    const validator = new Validator();
    await whileTrusted(async () => {
      t.strictSame(await validator.validate(INVALID), { valid: true });
      t.equal(validator.version, '3.1');
    });
    t.match(await validator.validate(INVALID), { valid: false });
  },
);
