/** Finds names and values of headers that HTTP cannot send. */
import type { HeaderNode } from '../../engine/contract/document.ts';
import { UNSENDABLE } from '../../engine/replies/reply-headers.ts';
import { keywordsOf } from '../../engine/schema/json.ts';

/** RFC 9110, section 5.1. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Finds names and values in the contract that no header may have. */
export function findUnsendable([name, { schema }]: [string, HeaderNode]): string[] {
  if (!NAME.test(name)) return [`header ${name}: no header may have this name`];
  const { const: only = [], enum: several = [] } = keywordsOf(schema);
  const values = [only, several].flat();
  const value = values.find((one) => UNSENDABLE.test(String(one)));
  return value === undefined ? [] : [`header ${name}: no header may have the value ${JSON.stringify(value)}`];
}
