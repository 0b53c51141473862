/** ajv keywords that take linear time. */
import { _, type CodeKeywordDefinition, str } from 'ajv/dist/2020.js';
import names from 'ajv/dist/compile/names.js';
import { Type } from 'ajv/dist/compile/util.js';

/** How many errors are collected. Alternatives and conditions report several for one problem. */
export const MAX_ERRORS = 100;

/** `untilMaxErrors: schema` checks items or fields, of which there may be very many, until there are enough errors. */
export const untilMaxErrors: CodeKeywordDefinition = {
  keyword: 'untilMaxErrors',
  schemaType: 'object',
  code: (cxt) => {
    const valid = cxt.gen.name('valid');
    cxt.gen.if(_`${names.default.errors} < ${MAX_ERRORS}`, () => cxt.subschema({ keyword: 'untilMaxErrors' }, valid));
  },
};

/** Replaces ajv's `contains`, which keeps an error for each item that does not match, and copies all of them for the next. */
export const contains: CodeKeywordDefinition = {
  keyword: 'contains',
  type: 'array',
  schemaType: ['object', 'boolean'],
  trackErrors: true,
  error: {
    message: ({ params: { min, max } }) =>
      max === undefined
        ? str`must contain at least ${min} valid item(s)`
        : str`must contain at least ${min} and no more than ${max} valid item(s)`,
  },
  code: (cxt) => {
    const { gen, data, it } = cxt;
    const { minContains: min = 1, maxContains: max } = cxt.parentSchema;
    it.items = true;
    cxt.setParams({ min, max });
    const count = gen.let('count', 0);
    gen.forRange('i', 0, _`${data}.length`, (i) => {
      const valid = gen.name('valid');
      const item = { keyword: 'contains', dataProp: i, dataPropType: Type.Num };
      cxt.subschema({ ...item, compositeRule: true, createErrors: false, allErrors: false }, valid);
      cxt.reset();
      gen.if(valid, () => gen.code(_`${count}++`));
      gen.if(_`${count} >= ${max === undefined ? min : max + 1}`, () => gen.break());
    });
    cxt.pass(max === undefined ? _`${count} >= ${min}` : _`${count} >= ${min} && ${count} <= ${max}`);
  },
};
