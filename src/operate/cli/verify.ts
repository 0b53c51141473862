/** Checks that a backup is intact: its bytes, its database, and that both match its description. */
import { readDescription, runOnCopy, toFaults, toRemark } from './copies.ts';

const USAGE = `Usage:
  npm run verify -- <file>             says what is wrong with a backup, and ends with 0 where nothing is
  node dist/src/operate/cli/verify.js <file>   the same without development tools`;

await runOnCopy(USAGE, async (copy) => {
  const description = readDescription(copy);
  const faults = await toFaults(copy, copy);
  if (faults.length > 0) throw new Error(`${copy} is damaged:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  const rows = Object.entries(description.rows).map(([table, count]) => `${count} ${table}`);
  return `${copy} is whole: as of ${description.begunAt}, with ${rows.join(', ')}.${toRemark(description)}`;
});
