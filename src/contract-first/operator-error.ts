/** An error that the operator can fix: only its message is printed, without a stack. */
import { inspect } from 'node:util';
import { toPrintableLines } from './json/literals.ts';

export class OperatorError extends Error {
  [inspect.custom](): string {
    return toPrintableLines(this.message);
  }
}
