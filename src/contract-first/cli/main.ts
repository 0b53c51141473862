/**
 * The command `contract-first`. Developers run it in the folder of their service. A tool, such as the compiler, is
 * loaded only by commands that need it.
 */
import { toPrintableLines } from '../json/literals.ts';
import { type Command, type CommandCall, runCommand } from '../operate/commands/command-line.ts';
import { withProgress } from './progress.ts';
import { ProjectError } from './project.js';
import { findMissingTools, type Tool } from './tools.ts';

/**
 * The tools of commands that read and write TypeScript. Redocly is among them, because it bundles contracts in several
 * files.
 */
const COMPILER: Tool[] = ['typescript', 'openapi-typescript', 'ts-blank-space', '@redocly/openapi-core'];
const LINTER: Tool[] = ['@redocly/openapi-core', 'ts-blank-space'];
const ANY_NUMBER = [0, Number.POSITIVE_INFINITY] as const;

/**
 * Runs a command if its tools are installed. Modules such as `build.js` do their work when they are imported, and set
 * the exit code themselves.
 */
const having =
  (tools: Tool[], load: (call: CommandCall) => Promise<unknown>): Command['run'] =>
  async (call) => {
    const missing = findMissingTools(tools);
    if (missing) throw new ProjectError(missing);
    if (tools.length > 0) await import('./typescript/register.js');
    const code = await load(call);
    return typeof code === 'number' ? code : undefined;
  };

const commands: Record<string, Command> = {
  new: {
    usage: '. [--contract FILE|URL] [--no-collections] [--assume]',
    about: 'makes a service of a folder in which this package is installed, with your contract or a first one',
    takes: [1, 1],
    options: { contract: { type: 'string' }, 'no-collections': { type: 'boolean' }, assume: { type: 'boolean' } },
    run: having([], async ({ positionals: [folder = ''], values }) =>
      (await import('./new.ts')).runNew(folder, values),
    ),
  },
  generate: {
    usage: '[--check]',
    about: 'writes src/generated from the contract, and names missing handlers; --check fails if anything is stale',
    options: { check: { type: 'boolean' } },
    run: having(COMPILER, async ({ values }) =>
      (await import('./generate/generate.ts')).runGenerate(values.check === true),
    ),
  },
  migration: {
    usage: 'NAME [--drop TABLE.COLUMN] [--rename TABLE.COLUMN=COLUMN]',
    about: 'writes the next migration for both databases; it asks where data would be lost',
    takes: [1, 1],
    options: { drop: { type: 'string', multiple: true }, rename: { type: 'string', multiple: true } },
    run: having(['ts-blank-space'], async ({ positionals: [name = ''], values }) => {
      const { drop = [], rename = [] } = values as Partial<Record<string, string[]>>;
      return (await import('./migration/migration.ts')).runMigration(name, drop, rename);
    }),
  },
  build: {
    about: 'checks contract, types and handlers, and compiles the service to dist/, if anything has changed',
    run: having(COMPILER, () => withProgress('The build', () => import('./build.js'))),
  },
  dev: {
    about: 'builds and starts the service, again after each change; an error is shown, and the last server goes on',
    run: having([...COMPILER, 'chokidar'], () => import('./dev.ts')),
  },
  test: {
    usage: '[FILE ...] [an option of node --test ...]',
    about: 'runs test/**/*.test.ts, or these files',
    takes: ANY_NUMBER,
    passesOptions: true,
    run: having(['ts-blank-space'], async ({ args }) => (await import('./test.ts')).runTest(args)),
  },
  lint: {
    usage: '[CONTRACT ...]',
    about: "fails on what is wrong in the service's contract, or in these; redocly.yaml next to it adds rules",
    takes: ANY_NUMBER,
    run: having(LINTER, async ({ args }) => (await import('./lint/lint.ts')).runLint(args)),
  },
  diff: {
    usage: '[CONTRACT FOLDER]',
    about: 'compares the contract with its newest release, and fails if its version does not fit',
    takes: [0, 2],
    run: having(LINTER, async ({ args }) => (await import('./diff/diff.ts')).runDiff(args)),
  },
  release: {
    usage: '[CONTRACT FOLDER]',
    about: 'saves the contract as a release, unless it is wrong or its version does not fit',
    takes: [0, 2],
    run: having(LINTER, async ({ args }) => (await import('./diff/diff.ts')).runRelease(args)),
  },
  sandbox: {
    usage: 'FILE|URL [--port N] [--keys]',
    about: 'serves any contract at once, in memory: records or examples; --keys demands the keys of the contract',
    takes: [1, 1],
    options: { port: { type: 'string' }, keys: { type: 'boolean' } },
    run: having([], async ({ positionals: [source = ''], values }) =>
      (await import('./sandbox/sandbox.ts')).runSandbox(source, values),
    ),
  },
  inspect: {
    usage: 'FILE|URL [--write OUT]',
    about:
      'lists the operations of any contract that can be served, and the changes it needs; --write writes its normal form',
    takes: [1, 1],
    options: { write: { type: 'string' }, new: { type: 'boolean' } },
    run: having(LINTER, async ({ positionals: [source = ''], values }) =>
      (await import('./inspect/inspect.ts')).runInspect(source, values),
    ),
  },
};

const PROGRAM = {
  call: 'npx --no -- contract-first',
  about: 'COMMAND, in the folder of a service',
  notes: 'The contract is "contract" of package.json, or the only file in openapi/.',
  commands,
};

try {
  const [, , ...args] = process.argv;
  const code = await runCommand(PROGRAM, args.length > 0 ? args : ['--help']);
  if (code !== undefined) process.exitCode = code;
} catch (error) {
  if (!(error instanceof ProjectError)) throw error;
  console.error(toPrintableLines(error.message));
  process.exitCode = 1;
}
