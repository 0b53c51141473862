import t from 'tap';
import type { Json } from '../../../src/engine/schema/json.ts';
import { isWithin } from '../../../src/engine/schema/subsets.ts';

const text = { type: 'string' };
const pet = { type: 'object', required: ['name'], properties: { name: text }, additionalProperties: false };

t.test('what fits one schema is known to fit another where that is plain to see', async (t) => {
  const within: [inner: Json, outer: Json][] = [
    [text, true],
    [false, text],
    [text, { type: ['string', 'null'], description: 'Any.' }],
    [{ type: 'integer' }, { type: 'number' }],
    [{ enum: ['a'] }, { enum: ['a', 'b'] }],
    [
      { type: 'string', maxLength: 3 },
      { type: 'string', maxLength: 3, minLength: 0 },
    ],
    [
      { type: 'integer', minimum: 2, maximum: 5 },
      { minimum: 0, maximum: 9 },
    ],
    [
      { type: 'array', items: text },
      { type: 'array', items: text, minItems: 0 },
    ],
    [{ type: 'string', minLength: 3 }, { minLength: 2 }],
    [pet, { ...pet, required: [] }],
    [pet, { ...pet, properties: { ...pet.properties, status: text } }],
    [pet, { allOf: [pet, { type: 'object' }] }],
    [
      { type: 'array', items: pet },
      { type: 'array', items: { ...pet, required: [] } },
    ],
  ];
  for (const [inner, outer] of within) t.equal(isWithin(inner, outer), true, JSON.stringify([inner, outer]));
});

t.test('and any other is not', async (t) => {
  const others: [inner: Json, outer: Json][] = [
    [text, false],
    [true, text],
    [{}, text],
    [text, { enum: ['a'] }],
    [{ enum: ['a', 'b'] }, { enum: ['a'] }],
    [text, { type: 'string', maxLength: 3 }],
    [{ type: 'integer' }, { type: 'integer', minimum: 0 }],
    [text, { type: 'string', pattern: 'a' }],
    [{ type: 'array' }, { type: 'array', items: text }],
    [
      { type: 'array', items: text },
      { type: 'array', items: text, maxItems: 1 },
    ],
    [{ ...pet, required: [] }, pet],
    [pet, { ...pet, required: ['name', 'status'] }],
    [pet, { ...pet, properties: {} }],
    [
      { ...pet, additionalProperties: true },
      { ...pet, properties: { ...pet.properties, status: text } },
    ],
    [
      { type: 'array', items: pet },
      { type: 'array', items: { ...pet, properties: { id: text } } },
    ],
  ];
  for (const [inner, outer] of others) t.equal(isWithin(inner, outer), false, JSON.stringify([inner, outer]));
});
