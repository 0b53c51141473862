/** Puts a contract in the place of ours, with a handler for each operation. */
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { buildDomain, buildWriting, HEADER } from '../domain.ts';
import type { Judgement } from './judgement.ts';

/** Parts of the project that were made for the contract in place, and do not compile with this one. */
export interface Unfit {
  /** Folders below `src/` with a `domain.ts`. */
  domains: string[];
  /** Operations whose handlers stay. */
  handlers: string[];
}

/** The handler of an operation that is not made yet. */
export const toHandler = (id: string) => `import { handle, notImplemented } from '#engine';

export default handle('${id}', notImplemented);
`;

/** Handlers that would have no operation. */
export const findOthers = (ids: string[], root: URL): string[] =>
  readdirSync(new URL('handlers/', root)).filter((name) => name.endsWith('.ts') && !ids.includes(parse(name).name));

/** Returns what to tell. */
export function place(
  file: string,
  { ids, errors, needsTokens }: Pick<Judgement, 'ids' | 'errors' | 'needsTokens'>,
  root: URL,
  { replaces, keepsErrors, domains, handlers: unfit }: { replaces: boolean; keepsErrors: boolean } & Unfit,
): string {
  const handlers = new URL('handlers/', root);
  const present = readdirSync(handlers).filter((name) => name.endsWith('.ts'));
  const removed = replaces ? present : [];
  for (const name of removed) rmSync(new URL(name, handlers));
  if (replaces) removeDomains(domains, new URL('src/', root));
  copyFileSync(file, new URL('openapi/petstore.yaml', root));
  const made = ids.filter((id) => !existsSync(new URL(`${id}.ts`, handlers)));
  for (const id of made) writeFileSync(new URL(`${id}.ts`, handlers), toHandler(id));
  const own = new URL('src/errors.ts', root);
  const isKept = existsSync(own) && (!replaces || keepsErrors);
  if (!isKept) writeFileSync(own, errors);
  const tokens = new URL('src/tokens.ts', root);
  const isUnchecked = !existsSync(tokens) || /verifyToken\b.*= undefined;/.test(readFileSync(tokens, 'utf8'));
  if (needsTokens && isUnchecked) writeFileSync(tokens, TOKENS);
  const ofErrors = keepsErrors
    ? 'src/errors.ts is kept: what it makes fits this contract.'
    : isKept
      ? 'src/errors.ts is kept: npm run generate says where it does not fit.'
      : 'src/errors.ts has its errors: go through it.';
  const counts = `${made.length} handlers made, ${ids.length - made.length} kept, ${removed.length} removed.`;
  const left = [...domains.map((name) => `src/${name}/domain.ts`), ...unfit.map((id) => `handlers/${id}.ts`)];
  const ofUnfit = replaces
    ? domains.map((name) => `src/${name}/ is removed: it kept what the contract before described.\n`)
    : left.map((name) => `${name} does not fit it: the compiler says where.\n`);
  return `openapi/petstore.yaml is this contract. ${counts}\n${ofErrors}\n${ofUnfit.join('')}${NEXT}`;
}

/** The generated files are made anew without them: `npm run generate` loads those. */
function removeDomains(folders: string[], source: URL): void {
  if (folders.length === 0) return;
  for (const name of folders) rmSync(new URL(name, source), { recursive: true });
  writeFileSync(new URL('generated/domain.ts', source), HEADER + buildDomain(source));
  writeFileSync(new URL('generated/writing.ts', source), HEADER + buildWriting(source, 'openapi/petstore.yaml'));
}

/** The first `src/tokens.ts`, for a contract that has OAuth 2 or OpenID Connect. */
const TOKENS = `/** Tokens that others have issued. Yours: until you check them here, none opens anything. */
import type { VerifyToken } from './engine/tokens.ts';

/** The claims of a token: handlers get them as \`caller.claims\`. */
export type Claims = Readonly<Record<string, unknown>>;

export const verifyToken: VerifyToken<Claims> | undefined = () => ({ refused: 'tokens are not checked yet' });
`;

const NEXT = `Next:
  npm run generate   writes its types
  npm start          serves it: operations answer 501 until their handlers do more
The releases in openapi/released/, the clients in openapi/clients/, the tests in test/operations/, and each folder below src/ with a
domain.ts are those of the contract before.`;
