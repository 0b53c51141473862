/** A fault in a request: as a message for people, such as `body.name is missing`, and as fields for programs. */
import { fromPointerToken } from '../../json/pointer.ts';

/**
 * Limits for the list of problems in a reply: the number of problems, the characters of each message, and the bytes of
 * all problems as JSON. The limits are needed because problems repeat names that the client has sent.
 */
export const MAX_PROBLEMS = 20;
const MAX_LENGTH = 400;
const MAX_BYTES = 7000;

/**
 * A problem of a request, with the fields that an error body contains. Converted to a string, a problem becomes its
 * message.
 */
export class Problem {
  readonly in: 'body' | 'path' | 'query' | 'header';
  /** A JSON Pointer in the body, or the name of a parameter. */
  readonly place: string;
  readonly code: string;
  readonly message: string;

  /**
   * `pointer` begins with the location of the value in the request: `/body/name`, `/query/limit`. A long pointer is cut
   * at a `/`.
   */
  constructor(pointer: string, code: string, message: string) {
    const known = pointer.length > MAX_LENGTH ? pointer.slice(0, pointer.lastIndexOf('/', MAX_LENGTH)) : pointer;
    const [, part = '', name = ''] = known.split('/');
    this.in = part as Problem['in'];
    this.place = part === 'body' ? known.slice('/body'.length) : fromPointerToken(name);
    this.code = code;
    this.message = cut(message);
  }

  toString(): string {
    return this.message;
  }
}

const MORE = new Problem('', 'more', 'and more');

/** Makes the problem of a value: `problemAt('/query/limit', 'repeated', 'is given more than once')`. */
export const problemAt = (pointer: string, code: string, words: string): Problem =>
  new Problem(pointer, code, `${toDottedPath(pointer)} ${words}`);

/**
 * Returns the first problems, as many as the limits above allow. If problems were left out, the problem `and more` is
 * added at the end.
 */
export function firstProblems(problems: Problem[]): Problem[] {
  const few: Problem[] = [];
  let bytes = 0;
  for (const problem of problems) {
    bytes += Buffer.byteLength(JSON.stringify([problem, problem.message]));
    if (few.length === MAX_PROBLEMS || bytes > MAX_BYTES) return [...few, MORE];
    few.push(problem);
  }
  return few;
}

/** Returns the message and the problems of an error body. `and more` appears only in the message. */
export const toErrorDetails = (problems: Problem[]): [message: string, problems: Problem[]] => [
  problems.join('; '),
  problems.filter((problem) => problem !== MORE),
];

/** Shortens a long text by replacing its middle with `…`. */
export function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH / 2)} … ${text.slice(-MAX_LENGTH / 2)}`.toWellFormed();
}

/** Turns `/body/name` into `body.name`. */
export const toDottedPath = (pointer: string): string => fromPointerToken(pointer.slice(1).replaceAll('/', '.'));
