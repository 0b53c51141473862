/** The parts of a service that judge its contract, as it has written them so far: it need not have any. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ToErrorBody, toErrorBody as toOwnBody } from '../engine/error-body.ts';
import type { VerifyToken } from '../engine/tokens.ts';
import type { AnyDomain } from '../store/description.ts';

export interface OwnParts {
  domain: AnyDomain;
  toErrorBody: ToErrorBody;
  verifyToken: VerifyToken<never> | undefined;
}

/** Loads them from the current folder. */
export async function loadOwnParts(): Promise<OwnParts> {
  const load = async (path: string): Promise<Partial<OwnParts>> =>
    existsSync(path) ? import(pathToFileURL(resolve(path)).href) : {};
  const [{ domain = {} }, { toErrorBody = toOwnBody }, { verifyToken }] = await Promise.all([
    load('src/generated/domain.ts'),
    load('src/errors.ts'),
    load('src/tokens.ts'),
  ]);
  return { domain, toErrorBody, verifyToken };
}
