/**
 * Lints the contract by the rules in `openapi/lint`: `npm run contract:lint`, or with `-- <file> ...` other contracts. It reads
 * files only: a reference to another machine is an error, not a request.
 */
import { fileURLToPath } from 'node:url';
import {
  BaseResolver,
  getLineColLocation,
  isAbsoluteUrl,
  lint as lintFile,
  loadConfig,
  type NormalizedProblem,
  ResolveError,
} from '@redocly/openapi-core';
import { loadContract } from '../src/engine/contract/load-contract.ts';
import { compileOperations } from '../src/engine/routes/compiled-operations.ts';
import { toErrorBody } from '../src/errors.ts';
import { toPrintableLines } from '../src/store/api-keys.ts';

const CONTRACT = fileURLToPath(new URL('../openapi/petstore.yaml', import.meta.url));
const CONFIG = fileURLToPath(new URL('../openapi/lint/redocly.yaml', import.meta.url));

class FilesOnly extends BaseResolver {
  override async loadExternalRef(reference: string) {
    if (isAbsoluteUrl(reference)) throw new ResolveError(new Error(`${reference} is not fetched`));
    return super.loadExternalRef(reference);
  }
}

/** For each file that breaks a rule its name, and a line for each problem; empty when there is none. Without files, our contract. */
export async function lint(...files: string[]): Promise<string> {
  const config = await loadConfig({ configPath: CONFIG });
  const reports: string[] = [];
  for (const ref of files.length > 0 ? files : [CONTRACT]) {
    try {
      const found = await lintFile({ ref, config, externalRefResolver: new FilesOnly() });
      if (found.length > 0) reports.push(`${ref}:\n${found.map(toLine).join('')}`);
      // Reports formats and defaults that the server would treat as annotations.
      else compileOperations({ ...(await loadContract(ref)), isStrict: true }, toErrorBody);
    } catch (error) {
      // The contract does not exist, is no YAML, or cannot be served.
      reports.push(`${ref}:\n  ${(error as Error).message}\n`);
    }
  }
  return reports.join('');
}

function toLine({ location, severity, ruleId, message }: NormalizedProblem): string {
  const [{ start }] = location.map(getLineColLocation) as [ReturnType<typeof getLineColLocation>];
  return `  ${start.line}:${start.col}  ${severity}  ${ruleId}  ${message}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = await lint(...process.argv.slice(2));
  console.log(toPrintableLines(problems) || 'The contract keeps every rule.');
  process.exitCode = Number(problems !== '');
}
