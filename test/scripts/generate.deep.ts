import t from 'tap';
import { type Edit, edited } from '../edited-contract.ts';
import { copyProject, generate, readCopied } from './project-copy.ts';

const contracts: [sentence: string, problem: string, edit: Edit][] = [
  [
    'a 64-bit integer that is compared',
    'operation createPet: body.nickname: enum is not supported for int64',
    ({ NewPet }) => (NewPet.properties.nickname = { type: 'integer', format: 'int64', enum: [1] }),
  ],
  [
    'a field that allows nothing',
    'operation createPet: its body.name: allows nothing, not even Rex: it must have at most 2 characters',
    ({ NewPet }) => (NewPet.properties.name = { type: 'string', const: 'Rex', maxLength: 2 }),
  ],
];

for (const [sentence, problem, edit] of contracts) {
  t.test(`${sentence} is refused in one line, and nothing is written`, async (t) => {
    const folder = copyProject(t, edited(edit));
    const generated = readCopied(folder, 'src/generated/contract.ts');
    const { status, stderr } = generate(folder);
    t.equal(status, 1);
    t.equal(stderr.replace(/:\d+:\d+: /, ': '), `openapi/petstore.yaml: ${problem}\n`);
    t.equal(readCopied(folder, 'src/generated/contract.ts'), generated, 'nothing is written');
  });
}

t.test('a 64-bit integer that may be null is a bigint or null in the types', async (t) => {
  const owner = { type: ['integer', 'null'], format: 'int64' };
  const folder = copyProject(
    t,
    edited(({ NewPet, Pet }) => {
      for (const { properties } of [NewPet, Pet]) properties.owner = owner;
    }),
  );
  t.equal(generate(folder).status, 0);
  t.match(readCopied(folder, 'src/generated/contract.ts'), /^ *owner\?: bigint \| null;$/m);
});

t.test(
  'what cannot be proven to fit a record is a warning with its position, and what does not fit is an error',
  (t) => {
    const withPattern = (pattern: string, maxLength: number): Edit => {
      return ({ Pet, PetName }) => (Pet.properties.name = { ...PetName, pattern, maxLength });
    };
    const unproven = generate(copyProject(t, edited(withPattern('^[^\\x00]{0,255}$', 255))));
    t.equal(unproven.status, 0, unproven.stderr);
    t.match(
      unproven.stderr,
      /^warning: openapi\/petstore\.yaml:1:\d+: operation createPet: its body\.name: cannot be proven to fit schema Pet, which stores it$/m,
    );
    const shorter = generate(
      copyProject(
        t,
        edited(({ Pet, PetName }) => (Pet.properties.name = { ...PetName, maxLength: 9 })),
      ),
    );
    t.equal(shorter.status, 1);
    t.match(
      shorter.stderr,
      /^openapi\/petstore\.yaml:1:\d+: operation createPet: its body\.name: "x{10}" is let in, and not stored by schema Pet: /,
    );
    t.end();
  },
);
