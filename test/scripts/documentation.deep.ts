/** Compiles each TypeScript block of the documentation, in the file that its first line names. */
import t from 'tap';
import { buildDiagnose, filesIn } from '../compiler.ts';
import { ANY_FENCE, BLOCKS, buildDocumentedService, PAPERS, read } from './documented-service.ts';

t.test('the first line of each code block in the documentation names the file of the code', async (t) => {
  t.ok(BLOCKS.length > 10);
  t.equal(PAPERS.flatMap((paper) => [...read(paper).matchAll(ANY_FENCE)]).length, BLOCKS.length);
  t.strictSame(
    BLOCKS.filter(({ file }) => file === '').map(({ at }) => at),
    [],
  );
  const whole = BLOCKS.filter(({ isWhole }) => isWhole).map(({ file }) => file);
  t.equal(new Set(whole).size, whole.length, 'no two blocks are the same whole file');
});

t.test(
  'each code block of the documentation compiles in its file, and a service with all of these files compiles',
  async (t) => {
    const { texts, blockAt } = await buildDocumentedService(t);
    const files = [...new Set([...filesIn(['src', 'handlers']), ...Object.keys(texts)])];
    const found = [...buildDiagnose()(files, texts)];
    t.strictSame(
      found.map(([file, said]) => [blockAt.get(file) ?? file, said]),
      [],
    );
  },
);
