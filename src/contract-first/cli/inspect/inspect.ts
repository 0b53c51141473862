/**
 * The command `inspect`: prints which operations of a contract are served and which are not, with reasons and advice.
 * Corrects harmless mistakes, and lists them. `--write OUT` writes the contract's normal form to a new file.
 */
import { toPrintable, toPrintableLines } from '../../json/literals.ts';
import { withProgress } from '../progress.ts';
import { makeNormalForm, type NormalForm, withFile, withFixes, writeNormalForm } from './files.ts';
import { type JudgedOperation, type Judgement, judge } from './judgement.ts';

interface InspectOptions {
  /** The path of the file to write the normal form to. */
  write?: string;
  /** True for a call by `new`, which writes `src/errors.ts` next. Problems that this file will solve are left out. */
  new?: boolean;
}

/** A contract that was read and judged. */
export interface Inspected {
  /** The corrections of harmless mistakes, one text each. */
  changes: string[];
  judgement: Judgement;
  /** The normal form of the contract. Undefined if the caller does not want it, or if the contract has errors. */
  normalForm: NormalForm | undefined;
}

/** Reads and judges a contract. @throws Error if a file cannot be read or fetched */
export function readJudged(source: string, { hasNormalForm }: { hasNormalForm: boolean }): Promise<Inspected> {
  const run = async (file: string, original: string, changes: string[]): Promise<Inspected> => {
    const judgement = await judge(file, { file: original, name: source });
    const isWanted = hasNormalForm && !hasProblems(judgement);
    return { changes, judgement, normalForm: isWanted ? await makeNormalForm(file) : undefined };
  };
  return withFile(source, (file) => withFixes(file, (fixed, changes) => run(fixed, file, changes), source));
}

const hasProblems = ({ rows }: Judgement): boolean => rows.some(({ problems }) => problems.length > 0);

/**
 * Returns the text to print and the exit code, which is 1 if the contract has errors.
 * @throws Error if a file cannot be read or written
 */
export async function inspectContract(
  source: string,
  { write: out, new: isNew = false }: InspectOptions = {},
): Promise<{ text: string; code: number }> {
  const inspected = await readJudged(source, { hasNormalForm: out !== undefined });
  const { normalForm } = inspected;
  const written = out !== undefined && normalForm ? ['', writeNormalForm(normalForm, out)] : [];
  return {
    text: [renderJudgement(inspected, isNew), ...written].join('\n'),
    code: Number(hasProblems(inspected.judgement)),
  };
}

/** Renders the changes and the judgement of all operations. */
export const renderJudgement = ({ changes, judgement }: Inspected, isNew: boolean): string =>
  [...toChanges(changes), toTable(judgement, isNew)].join('\n');

/**
 * Returns the lines that `new` prints about a contract: the changes and the notes. `new` prints the operations later.
 */
export const toRemarks = ({ changes, judgement: { unsolved, notes } }: Inspected): string[] => [
  ...toChanges(changes),
  ...toNotes([...unsolved, ...notes]),
];

/** The maximum number of changes that are listed. */
const MOST_CHANGES = 20;

function toChanges(changes: string[]): string[] {
  const listed = changes.slice(0, MOST_CHANGES).map((change) => toPrintable(`changed: ${change}`));
  const more = changes.length - listed.length;
  return [
    ...listed,
    ...(more > 0 ? [`changed: ${more} more, which are not listed`] : []),
    ...(changes.length > 0 ? [''] : []),
  ];
}

/**
 * The maximum number of served operations in a table that also has operations with errors. If there are more, only
 * their number is printed.
 */
const MOST_SERVED = 20;

/** Renders the judgement of a contract as one table. */
function toTable({ rows: all, ofTeam, unsolved, notes: others }: Judgement, isNew: boolean): string {
  const ofErrors = isNew ? unsolved : ofTeam;
  const notes = [...ofErrors, ...others];
  const unserved = all.filter(({ problems }) => problems.length > 0);
  const served = all.length - unserved.length;
  const isLong = unserved.length > 0 && served > MOST_SERVED;
  const rows = (isLong ? unserved : all).map(printable);
  const widthOf = (column: (row: JudgedOperation) => string) => Math.max(0, ...rows.map((row) => column(row).length));
  const [names, requests] = [widthOf(({ name }) => name), widthOf(({ request }) => request)];
  const toLines = ({ name, request, problems }: JudgedOperation) => {
    const said = problems.map(({ problem, advice }) => `refused: ${problem}${advice ? `; change: ${advice}` : ''}`);
    return (said.length > 0 ? said : ['served']).map((text, index) => {
      const [first, second] = index === 0 ? [name, request] : ['', ''];
      return `${first.padEnd(names)}  ${second.padEnd(requests)}  ${text}`;
    });
  };
  const rest = isLong ? [`The ${served} others are served.`] : [];
  const noted = notes.length > 0 ? ['', ...toNotes(notes)] : [];
  return [...rows.flatMap(toLines), ...rest, ...noted, '', toEnd(unserved, served, ofErrors, unsolved)].join('\n');
}

/** Makes the texts of a row printable, because they contain names and paths of a third party. */
const printable = ({ name, request, problems }: JudgedOperation): JudgedOperation => ({
  name: toPrintable(name),
  request: toPrintable(request),
  problems: problems.map(({ problem, advice }) => ({ problem: toPrintable(problem), advice })),
});

function toEnd(
  { length: unserved }: JudgedOperation[],
  served: number,
  ofErrors: string[],
  unsolved: string[],
): string {
  const count = `${served} operation${served === 1 ? '' : 's'}`;
  if (unserved === 0 && ofErrors.length > 0) {
    const ofNew = unsolved.length > 0 ? '; new finds no body for each of these errors' : ' (new writes it)';
    return `All of it can be served: ${count}. First write src/errors.ts, as described in the notes${ofNew}: generate fails until then.`;
  }
  if (unserved === 0) return `All of it is served: ${count}.`;
  const next = `${unserved} refused, ${served} served: change what is refused, and run it again.\n`;
  return `${served > 0 ? next : ''}What a contract may use: node_modules/contract-first/guide/features.md`;
}

const toNotes = (notes: string[]): string[] => folded(notes).map((note) => toPrintable(`note: ${note}`));

/** Lists a note that several operations or replies share only once. */
function folded(notes: string[]): string[] {
  const alike = new Map<string, string[]>();
  for (const note of notes) {
    const words = note
      .replace(/^operation \S+: (response \S+: )?/, '')
      .replace(/^it is .* in the contract,/, 'it is … in the contract,');
    alike.set(words, [...(alike.get(words) ?? []), note]);
  }
  return [...alike.values()].map(([note, ...more]) =>
    more.length > 0 ? `${note} (and ${more.length} more like it)` : (note as string),
  );
}

/** Runs the command, and returns its exit code. */
export async function runInspect(source: string, options: InspectOptions): Promise<number> {
  const inspecting = withProgress('The contract is read', () => inspectContract(source, options));
  const { text, code } = await inspecting.catch(({ message }: Error) => ({ text: toPrintableLines(message), code: 1 }));
  console.log(text);
  return code;
}
