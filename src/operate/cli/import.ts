/** Fills an empty database from an export: with everything in it, or with nothing. */
import { open } from 'node:fs/promises';
import { domain } from '../../generated/domain.ts';
import { service } from '../../generated/service.ts';
import { loadOwnContract } from '../../own-contract.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { type Command, readFileName, runCommand } from './command.ts';
import { buildReadLine, MAX_LINE } from './line.ts';
import { count, describeCounts } from './progress.ts';
import { toParts } from './reading.ts';

const USAGE = `Usage:
  npm run import -- <file>             fills an empty database from an export
  node dist/src/operate/cli/import.js <file>   the same without development tools; - is standard input`;

await runCommand({
  readCommand: () => readCommand(process.argv.slice(2)),
  env: process.env,
  tell: console.error,
  ifUnknown: 'Everything was imported, or nothing: try again; it is refused if everything is there.',
});

async function readCommand(args: string[]): Promise<Command> {
  const file = readFileName(args, USAGE);
  const contract = await loadOwnContract(service);
  const bytes = file === '-' ? process.stdin : (await open(file)).createReadStream({ highWaterMark: MAX_LINE });
  return {
    run: async (store) => {
      const counts = { keys: 0, records: {} };
      const parts = count(toParts(bytes, buildReadLine(contract, domain), domain), counts, domain, console.error);
      try {
        await store.writeContents(parts, contract.digest);
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        throw new Error(`${(error as Error).message} Nothing was imported.`);
      }
      return `Imported ${describeCounts(counts, domain)}.`;
    },
    makesDatabase: true,
  };
}
