/** An error that the operator can correct. When it is printed, only its message appears, without a stack. */
import { inspect } from 'node:util';
import { toPrintableLines } from './json/literals.ts';

export class OperatorError extends Error {
  [inspect.custom](): string {
    return toPrintableLines(this.message);
  }
}
