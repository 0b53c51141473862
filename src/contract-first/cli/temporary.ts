/** A temporary folder, which does not outlive its use. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a function with a new folder. The folder is removed afterwards, even if the process exits meanwhile. */
export async function withTemporaryFolder<Made>(prefix: string, run: (folder: string) => Promise<Made>): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    return await run(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}
