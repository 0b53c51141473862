/**
 * Runs a command from a table of commands, which also contains their usage and arguments. The exit code is 0 for
 * success, 1 if the command failed or found problems, and 2 for wrong usage.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { toPrintableLines } from '../../json/literals.ts';

/**
 * The arguments of a command. `args` contains all of them unparsed. `positionals` and `values` are the results of
 * `parseArgs`.
 */
export interface CommandCall {
  args: string[];
  positionals: string[];
  values: Partial<Record<string, string | boolean>>;
}

export interface Command {
  /** The arguments after the command's name, as `--help` prints them. */
  usage?: string;
  about: string;
  /** More lines of `--help` about the arguments. */
  details?: string;
  /** The minimum and maximum number of positional arguments; 0 by default. */
  takes?: readonly [least: number, most: number];
  options?: ParseArgsConfig['options'];
  /** True if the command passes unknown options on to Node. Otherwise they are wrong usage. */
  passesOptions?: boolean;
  /**
   * Runs the command. Returns the exit code, or undefined for success and for a command that keeps running, such as a
   * server.
   */
  run(call: CommandCall): Promise<number | undefined>;
}

interface Program {
  /** The command line before the command's name: `node dist/src/main.js`. */
  call: string;
  /** The lines of `--help` before the list of commands. */
  about: string;
  /** The lines of `--help` after the list of commands. */
  notes: string;
  /** The commands by name. A name is one word or two: `backup`, `keys list`. */
  commands: Record<string, Command>;
}

/**
 * Runs a command, or prints its usage. Returns the exit code; undefined if the command returned none. @throws Error of
 * the command
 */
export async function runCommand(program: Program, args: string[]): Promise<number | undefined> {
  const { commands } = program;
  const name = [args.slice(0, 2).join(' '), ...args.slice(0, 1)].find((words) => Object.hasOwn(commands, words));
  const isHelp = args.includes('--help') || args[0] === '-h';
  const usage = name === undefined ? toUsages(program, args) : toUsage(program, name);
  const command = commands[name ?? ''];
  const call = command && parse(args.slice(name?.split(' ').length), command);
  if (command && call && !isHelp) return command.run(call);
  (isHelp ? console.log : console.error)(toPrintableLines(usage));
  return isHelp ? 0 : 2;
}

/** Parses the arguments of a command. Returns undefined if their number is wrong, or if an option is unknown. */
function parse(
  args: string[],
  { takes = [0, 0], options = {}, passesOptions = false }: Command,
): CommandCall | undefined {
  try {
    const parsed = parseArgs({ args, options, strict: !passesOptions, allowPositionals: true });
    const { length } = parsed.positionals.filter((one) => one !== '');
    const isRight = length === parsed.positionals.length && length >= takes[0] && length <= takes[1];
    return isRight ? ({ args, ...parsed } as CommandCall) : undefined;
  } catch {
    return undefined;
  }
}

function toUsage({ call, commands }: Program, name: string): string {
  const { usage = '', about, details } = commands[name] as Command;
  const lines = [`Usage: ${call} ${name} ${usage}`.trim(), `  It ${about}.`, ...(details ? ['', details] : [])];
  return lines.join('\n');
}

/** Returns the usage of all commands, or only of those that begin with the given word, such as `keys`. */
function toUsages(program: Program, [word = '--help']: string[]): string {
  const names = Object.keys(program.commands);
  const family = names.filter((name) => name.startsWith(`${word} `));
  if (family.length > 0) return family.map((name) => toUsage(program, name)).join('\n\n');
  const width = Math.max(...names.map((name) => name.length));
  return [
    ...(/^(--help|-h)$/.test(word) ? [] : [`There is no command ${word}.`]),
    `Usage: ${program.call} ${program.about}; --help after a command prints its usage.\n`,
    ...names.map((name) => `  ${name.padEnd(width)} ${program.commands[name]?.about}`),
    `\n${program.notes}\nExit codes: 0 done; 1 failed, or found something; 2 wrong usage.`,
  ].join('\n');
}
