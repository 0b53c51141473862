/** `new` compiles what it has written, and takes back what does not fit. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'lossless-json';
import t from 'tap';
import { writeService } from '../../../src/contract-first/cli/scaffold/write-service.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { NODE_ARGS } from '../../program.ts';
import { books, json, text } from './books-contract.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

t.test(
  'what was written compiles and generates, and what does not is taken back with its reason',
  { timeout: 300_000 },
  async (t) => {
    const folder = t.testdir({ openapi: {}, src: {}, test: {} });
    const here = process.cwd();
    t.teardown(() => process.chdir(here));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'books', version: '1.0.0', type: 'module' }));
    const contract = books(({ paths, body }) => {
      body.properties.title = { type: 'number' };
      paths['/books/{bookId}'].patch.requestBody = {
        required: true,
        ...json({ type: 'object', properties: { price: text } }),
      };
      paths['/books/{bookId}'].put.requestBody = {
        ...json({ type: 'object', properties: { price: { type: 'number' } } }),
      };
    });
    writeFileSync(join(folder, 'openapi/books.json'), stringify(contract) as string);
    process.chdir(folder);
    const write = (file: string, content: string) => {
      mkdirSync(join(folder, file, '..'), { recursive: true });
      if (existsSync(file)) return false;
      writeFileSync(file, content);
      return true;
    };
    const generate = [...NODE_ARGS, join(ROOT, 'src/contract-first/cli/main.ts'), 'generate'];
    const run = async (hasCollections = true) =>
      writeService(await loadContract(join(folder, 'openapi/books.json')), { write, generate, hasCollections });
    const refused = (await run()).join('\n');
    t.match(refused, /^createBook .* 501: /m);
    t.match(refused, /^0 of 6 operations are stored; the others answer 501\.$/m);
    t.notOk(existsSync('src/books'));
    t.match(readFileSync('handlers/createBook.ts', 'utf8'), /^\/\/ Not stored: /m);

    for (const name of ['handlers', 'src/generated', 'openapi/books.json']) rmSync(name, { recursive: true });
    const right = books(({ paths }) => {
      paths['/books/{bookId}'].patch.requestBody = {
        required: true,
        ...json({ type: 'object', properties: { price: text } }),
      };
    });
    writeFileSync(join(folder, 'openapi/books.json'), stringify(right) as string);
    const errors = 'export const toErrorBody = ({ message }: { message: string }) => ({ message });\n';
    writeFileSync('src/errors.ts', errors);
    const table = (await run()).join('\n');
    t.match(table, /^createBook .* stored in src\/books$/m);
    t.match(table, /^changeBook .* 501: it does not compile: /m);
    t.match(table, /^5 of 6 operations are stored; the others answer 501\.\nassumed: books: /m);
    const again = (await run()).join('\n');
    t.match(again, /^createBook .* 501: src\/books is there already$/m);
    t.strictSame(await run(false), []);
  },
);
