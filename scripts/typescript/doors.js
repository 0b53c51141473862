/**
 * `#engine` and `#store` are the doors that a team's files import by. package.json says which sources they are; a compiled program has
 * them as relative paths, since it stands in another folder.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

const DOOR = /(?<=\bfrom ')#(engine|store)(?=')/g;

/** The text of a compiled file, whose path begins in the program's folder: `handlers/getPet.js`. */
export function toRelativeDoors(text, file) {
  const toPath = (_, wing) => relative(dirname(file), `src/${wing}/index.js`).split(sep).join('/');
  return text.replace(DOOR, toPath);
}

/** Rewrites all files of a compiled program that import by a door. */
export function rewriteDoors(program) {
  for (const file of readdirSync(program, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  )) {
    const text = readFileSync(join(program, file), 'utf8');
    const rewritten = toRelativeDoors(text, file);
    if (rewritten !== text) writeFileSync(join(program, file), rewritten);
  }
}
