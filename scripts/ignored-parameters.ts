/** Parameters that a handler does not take: requests with them would be checked, answered, and not done as they say. */
import { existsSync, readFileSync } from 'node:fs';
import type { Contract, Parameter } from '../src/engine/contract/contract.ts';
import { nameOf } from '../src/engine/contract/operations.ts';

/** What a call has them in. */
const GROUPS: Record<Parameter['in'], string> = { path: 'params', query: 'query', header: 'headers' };

/**
 * A parameter is taken where the handler's file has its name, or hands all of its kind on (`pets.list(query)`), so that the compiler
 * sees what becomes of it. One that is left out is named in a comment that says why. `textOf` is the file of an operation's handler, if it has one.
 */
export function describeIgnored({ operations }: Contract, textOf = readHandler): string[] {
  return [...operations.values()].flatMap(({ id, parameters }) => {
    const text = textOf(id) ?? 'notImplemented';
    if (text.includes('notImplemented')) return [];
    const ignored = parameters.filter((parameter) => parameter.keptHours === undefined && !isTaken(parameter, text));
    return ignored.map(
      ({ name, in: place }) =>
        `${nameOf(id)}: handlers/${id}.ts does not take ${place}.${name}: use it, or say in a comment why not`,
    );
  });
}

function readHandler(id: string): string | undefined {
  const file = new URL(`../handlers/${id}.ts`, import.meta.url);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function isTaken({ name, in: place }: Parameter, text: string): boolean {
  const isHandedOn = new RegExp(`\\.(?!urlOf)\\w+\\((\\w+, )*${GROUPS[place]}[,)]`).test(text);
  // The status of an answer is no parameter of that name.
  return (
    isHandedOn ||
    text
      .replace(/\bstatus: \d+/g, '')
      .split(/[^\w-]+/)
      .includes(name)
  );
}
