/** A fault of a request at one place: in words for people, `body.name is missing`, and in parts for programs. */
import { fromStep } from '../json/pointer.ts';

/** How many a client is told of, how long each may be, and how many bytes of JSON all take: names that it has sent are in them. */
export const MAX_PROBLEMS = 20;
const MAX_LENGTH = 400;
const MAX_BYTES = 7000;

/** As an Error has it. In a text it is its message. */
export class Problem {
  readonly in: 'body' | 'path' | 'query' | 'header';
  /** In the body a JSON Pointer; elsewhere the name of a parameter. */
  readonly place: string;
  readonly code: string;
  readonly message: string;

  /** `pointer` begins with where in the request it is: `/body/name`. One that is too long ends before. */
  constructor(pointer: string, code: string, message: string) {
    const known = pointer.length > MAX_LENGTH ? pointer.slice(0, pointer.lastIndexOf('/', MAX_LENGTH)) : pointer;
    const [, part = '', name = ''] = known.split('/');
    this.in = part as Problem['in'];
    this.place = part === 'body' ? known.slice('/body'.length) : fromStep(name);
    this.code = code;
    this.message = cut(message);
  }

  toString(): string {
    return this.message;
  }
}

const MORE = new Problem('', 'more', 'and more');

/** `problemAt('/query/limit', 'repeated', 'is given more than once')`. */
export const problemAt = (pointer: string, code: string, words: string): Problem =>
  new Problem(pointer, code, `${toWords(pointer)} ${words}`);

/** The first ones, and whether there are more. */
export function toFew(problems: Problem[]): Problem[] {
  const few: Problem[] = [];
  let bytes = 0;
  for (const problem of problems) {
    bytes += Buffer.byteLength(JSON.stringify([problem, problem.message]));
    if (few.length === MAX_PROBLEMS || bytes > MAX_BYTES) return [...few, MORE];
    few.push(problem);
  }
  return few;
}

/** For the body of an error: its message, and what programs are told. */
export const toTold = (problems: Problem[]): [message: string, problems: Problem[]] => [
  problems.join('; '),
  problems.filter((problem) => problem !== MORE),
];

/** The start and the end of a text that is too long. */
export function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH / 2)} … ${text.slice(-MAX_LENGTH / 2)}`.toWellFormed();
}

/** `/body/name` is `body.name`. */
export const toWords = (pointer: string): string => fromStep(pointer.slice(1).replaceAll('/', '.'));
