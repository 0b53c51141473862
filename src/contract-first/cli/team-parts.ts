/** Loads the files of a service that decide whether its contract is valid. Any of these files may be missing. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { toErrorBody as toUsualBody } from '../engine/errors/error-body.ts';
import type { TeamParts } from '../engine/routes/compiled-operations.ts';
import type { VerifyToken } from '../engine/tokens.ts';

export interface LoadedParts extends TeamParts {
  verifyToken: VerifyToken<never> | undefined;
}

/** Loads the files from the current folder, with a default for each missing one. */
export async function loadTeamParts(): Promise<LoadedParts> {
  const load = async (path: string): Promise<Partial<LoadedParts>> =>
    existsSync(path) ? import(pathToFileURL(resolve(path)).href) : {};
  const [{ domain = {} }, { toErrorBody = toUsualBody }, { verifyToken }] = await Promise.all([
    load('src/generated/domain.ts'),
    load('src/errors.ts'),
    load('src/tokens.ts'),
  ]);
  return { domain, toErrorBody, verifyToken, unimplemented: findUnimplemented() };
}

/** Finds the operations with a handler that is still `notImplemented`. Reads only the texts of the handlers. */
function findUnimplemented(): ReadonlySet<string> {
  const files = existsSync('handlers') ? readdirSync('handlers').filter((name) => name.endsWith('.ts')) : [];
  const isEmpty = (file: string) =>
    /^export default handle\('[^']*', notImplemented\);$/m.test(readFileSync(`handlers/${file}`, 'utf8'));
  return new Set(files.filter(isEmpty).map((file) => file.slice(0, -'.ts'.length)));
}
