/**
 * The command `contract-first`: what the developers of a service run, in the folder of the service. Each tool is loaded only when it is
 * called. Exit codes: 0 done; 1 failed, or found something; 2 wrong usage.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { toPrintableLines } from '../json/literals.ts';
import { withProgress } from './progress.ts';
import { ProjectError } from './project.js';
import { describeMissing, type Tool } from './tools.ts';

interface Command {
  /** Its arguments. */
  usage: string;
  about: string;
  /** How many arguments it takes, at least and at most. */
  takes: [least: number, most: number];
  options?: ParseArgsConfig['options'];
  /** Whether options of other names are Node's. */
  passesOptions?: boolean;
  tools: Tool[];
  /** Returns the exit code; nothing if the tool sets it, or runs on. */
  run: (args: string[]) => Promise<number | undefined>;
}

/** Tools that read and write TypeScript, and one that reads contracts in several files. */
const COMPILER: Tool[] = ['typescript', 'openapi-typescript', 'ts-blank-space', '@redocly/openapi-core'];

/** A tool that works as soon as it is imported. */
const importing = (load: () => Promise<unknown>) => async () => void (await load());

const COMMANDS: Record<string, Command> = {
  new: {
    usage: '. [--contract FILE|URL]',
    about: 'makes a service of a folder in which this package is installed, with your contract or a first one',
    takes: [1, 1],
    options: { contract: { type: 'string' } },
    tools: [],
    run: async (args) => (await import('./new.ts')).run(args),
  },
  generate: {
    usage: '[--check]',
    about: 'writes src/generated from the contract, and names missing handlers; --check fails if anything is stale',
    takes: [0, 0],
    options: { check: { type: 'boolean' } },
    tools: COMPILER,
    run: importing(() => import('./generate.ts')),
  },
  build: {
    usage: '',
    about: 'checks contract, types and handlers, and compiles the service to dist/, if anything has changed',
    takes: [0, 0],
    tools: COMPILER,
    run: importing(() => withProgress('The build', () => import('./build.js'))),
  },
  dev: {
    usage: '',
    about: 'builds and starts the service, again after each change; an error is shown, and the last server goes on',
    takes: [0, 0],
    tools: COMPILER,
    run: importing(() => import('./dev.ts')),
  },
  test: {
    usage: '[FILE ...] [an option of node --test ...]',
    about: 'runs test/**/*.test.ts, or these files',
    takes: [0, Number.POSITIVE_INFINITY],
    passesOptions: true,
    tools: ['ts-blank-space'],
    run: async (args) => (await import('./test.ts')).run(args),
  },
  lint: {
    usage: '[CONTRACT ...]',
    about: "lints the service's contract, or these",
    takes: [0, Number.POSITIVE_INFINITY],
    tools: ['@redocly/openapi-core', 'ts-blank-space'],
    run: async (args) => (await import('./contract-lint.ts')).run(args),
  },
  diff: {
    usage: '[CONTRACT FOLDER]',
    about: 'compares the contract with its newest release, and fails if its version does not fit',
    takes: [0, 2],
    tools: ['@redocly/openapi-core', 'ts-blank-space'],
    run: async (args) => (await import('./contract-diff.ts')).run(args),
  },
  release: {
    usage: '[CONTRACT FOLDER]',
    about: 'saves the contract as a release, if lint and diff find nothing',
    takes: [0, 2],
    tools: ['@redocly/openapi-core', 'ts-blank-space'],
    run: async (args) => (await import('./contract-release.ts')).run(args),
  },
  inspect: {
    usage: 'FILE|URL [--write OUT]',
    about: 'says which operations of any contract are served, and what to change; --write writes its normal form',
    takes: [1, 1],
    options: { write: { type: 'string' } },
    tools: ['@redocly/openapi-core', 'ts-blank-space'],
    run: async (args) => (await import('./contract-inspect.ts')).run(args),
  },
};

const CALL = 'npx --no contract-first';

const toUsage = (name: string, { usage, about }: Command) =>
  `Usage: ${`${CALL} ${name} ${usage}`.trim()}\n  It ${about}.`;

const toTable = () =>
  [
    `Usage: ${CALL} COMMAND, in the folder of a service; --help after a command says how it is called.\n`,
    ...Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(9)} ${about}`),
    '\nExit codes: 0 done; 1 failed, or found something; 2 wrong usage.',
  ].join('\n');

/** Whether the arguments fit the usage. */
function fits(args: string[], { takes: [least, most], options = {}, passesOptions = false }: Command): boolean {
  try {
    const { positionals } = parseArgs({ args, options, strict: !passesOptions, allowPositionals: true });
    return positionals.length >= least && positionals.length <= most;
  } catch {
    return false;
  }
}

/** Returns the exit code. */
async function main([name = '--help', ...args]: string[]): Promise<number | undefined> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    const isHelp = name === '--help' || name === '-h';
    (isHelp ? console.log : console.error)(toPrintableLines(isHelp ? toTable() : `There is no ${name}.\n${toTable()}`));
    return isHelp ? 0 : 2;
  }
  if (args.includes('--help')) {
    console.log(toUsage(name, command));
    return 0;
  }
  if (!fits(args, command)) {
    console.error(toUsage(name, command));
    return 2;
  }
  const missing = describeMissing(command.tools);
  if (missing) throw new ProjectError(missing);
  if (command.tools.length > 0) await import('./typescript/register.js');
  return command.run(args);
}

try {
  const code = await main(process.argv.slice(2));
  if (code !== undefined) process.exitCode = code;
} catch (error) {
  if (!(error instanceof ProjectError)) throw error;
  console.error(toPrintableLines(error.message));
  process.exitCode = 1;
}
