/** The types of `answer`, with a service's own collection. */
import t from 'tap';
import { diagnoseAnswers, read, TYPES } from '../compiler.ts';

const GET = 'await call.pets.get(call.params.petId)';
const NEW = 'await call.pets.create(call.body)';
const LOCATION = "headers: ({ id }) => ({ Location: call.urlOf('getPet', { petId: id }) })";

t.test("answer() with a declared status compiles for each operation's result", (t) => {
  const right: [operation: string, answer: string][] = [
    ['getPet', `answer(200, ${GET}, { absent: 'pet_not_found' })`],
    ['getPet', `answer(200, ${GET}, { absent: () => refuse('pet_not_found', \`No pet \${call.params.petId}.\`) })`],
    ['createPet', `answer(201, ${NEW}, { ${LOCATION}, idempotency: call.idempotency })`],
    ['createPet', `answer(201, ${NEW}, { headers: { Location: '/' } })`],
    // By `default`.
    [
      'createPet',
      `answer(201, ${NEW} as Awaited<ReturnType<typeof call.pets.create>> | undefined, { ${LOCATION}, absent: 'gone' })`,
    ],
  ];
  for (const [index, message] of diagnoseAnswers(right).entries()) t.equal(message, '', String(right[index]));
  t.end();
});

t.test('a call of answer() with a wrong status, result or option is a compile error that names the mistake', (t) => {
  const change = (how: string) => `answer(200, await call.pets.update(1n, { categoryId: { add: 1n } })${how})`;
  const wrong: [operation: string, answer: string, why: string][] = [
    ['getPet', `answer(202, ${GET}, { absent: 'pet_not_found' })`, '"getPet: the contract declares no status 202"'],
    ['getPet', `answer(200, ${GET})`, '"absent is missing: there may be no such record"'],
    ['getPet', `answer(200, ${GET}, { absent: 'lost' })`, 'lost is not a code of the catalogue of errors'],
    ['getPet', `answer(200, ${GET}, { absent: () => refuse('lost', '') })`, `'"lost"' is not assignable`],
    [
      'listPets',
      `answer(200, ${GET.replace('call.params.petId', '1n')}, { absent: () => refuse('gone', '') })`,
      '200.body has another',
    ],
    [
      'getPet',
      `answer(200, ${GET}, { absent: () => ({ status: 404, body: error }) })`,
      "Property 'isBranded' is missing",
    ],
    ['createPet', `answer(201, ${NEW})`, '"createPet: 201.headers.Location is missing"'],
    [
      'listPets',
      `answer(200, ${GET.replace('call.params.petId', '1n')}, { absent: 'gone' })`,
      '200.body has another type than in the contract',
    ],
    ['getPet', change(''), 'absent is missing'],
    ['getPet', change(", { absent: 'gone' }"), 'refused.out_of_range is missing'],
    [
      'getPet',
      change(", { absent: 'gone', refused: { out_of_range: 'lost' } }"),
      'lost is not a code of the catalogue of errors',
    ],
    ['getPet', 'answer(200, call.body as any)', '200.body is any, which may be anything'],
    [
      'getPet',
      `answer(200, ${GET}, { absent: 'gone', headers: { 'X-Foo': '1' } })`,
      '200.headers.X-Foo is not in the contract',
    ],
    [
      'getPet',
      `answer(200, ${GET}, { absent: 'gone', tag: () => '"1"', unless: '' })`,
      'the contract declares no status 304',
    ],
  ];
  const messages = diagnoseAnswers(wrong.map(([operation, given]) => [operation, given]));
  for (const [index, [, given, why]] of wrong.entries()) t.match(messages[index], why, given);
  t.end();
});

t.test('a header that the contract fixes to one value needs no `as const`; another value is a compile error', (t) => {
  const types = read(TYPES).replace('Location: string', "'X-Kind': 'pet'; 'X-Form'?: 1; Location: string");
  const send = (headers: string) => `const headers = ${headers}; return { status: 201, headers, body: ${NEW} };`;
  const given: [answer: string, why: RegExp | string][] = [
    [send("{ Location: '/', 'X-Kind': 'pet', 'X-Form': 1 }"), /^$/],
    [send("{ Location: '/', ...{ 'X-Kind': 'pet' } }"), /^$/],
    [`answer(201, ${NEW}, { headers: () => ({ Location: '/', 'X-Kind': 'pet' }) })`, /^$/],
    [`answer(201, ${NEW}, { headers: { Location: '/', 'X-Kind': 'dog' } })`, '201.headers.X-Kind has another type'],
    [send("{ Location: '/', 'X-Kind': 'pet', 'X-Form': 2 } as const"), '201.headers.X-Form has another type'],
    [send("{ Location: '/', 'X-Kind': 1 }"), '201.headers.X-Kind has another type'],
    [send("{ Location: '/', 'X-Kind': anything }"), '201.headers.X-Kind is any'],
    [send("{ Location: '/' }"), '201.headers.X-Kind is missing'],
  ];
  const messages = diagnoseAnswers(
    given.map(([answer]) => ['createPet', answer]),
    types,
  );
  for (const [index, [answer, why]] of given.entries()) t.match(messages[index], why, answer);
  t.end();
});
