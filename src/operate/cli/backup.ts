/** Copies the SQLite database of a running server to a file, as it is at one moment. */
import { createReadStream, existsSync, renameSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { toErrorBody } from '../../errors.ts';
import { domain } from '../../generated/domain.ts';
import { CONTRACT_DIGEST } from '../../generated/handlers.ts';
import { loadOwnContract } from '../../own-contract.ts';
import { copyAside, lookInto } from '../../store/sqlite/copies.ts';
import { refuseCompanions } from './command.ts';
import {
  type Description,
  descriptionOf,
  openPart,
  runOnCopy,
  syncFolder,
  toDatabaseFile,
  toDigest,
} from './copies.ts';

const USAGE = `Usage:
  npm run backup -- <file>             copies the database of a running server, with <file>.json beside it
  node dist/src/operate/cli/backup.js <file>   the same without development tools; - is standard output, and standard error gets the description`;

/** How often the copy is flushed to disk, in milliseconds: a little at a time, so that creates do not wait behind it. */
const SYNC_INTERVAL = 50;

await runOnCopy(USAGE, backup);

async function backup(copy: string): Promise<string> {
  const database = toDatabaseFile(process.env);
  if (!existsSync(database))
    throw new Error(`There is no database ${database}. Go to the folder of the service, or set DATABASE_URL.`);
  if (copy !== '-') {
    refuseCompanions(copy);
    for (const file of [copy, descriptionOf(copy)])
      if (existsSync(file)) throw new Error(`${file} is there already: a backup replaces none.`);
  }
  // Threads started from now on have the low priority, too.
  setPriority(constants.priority.PRIORITY_LOW);
  const part = `${copy === '-' ? database : copy}.${process.pid}.part`;
  const description = await fill(part, database);
  const text = JSON.stringify(description);
  if (copy === '-') {
    await pipeline(createReadStream(part), process.stdout);
    return text;
  }
  const described = await openPart(`${part}.json`);
  await described.writeFile(`${text}\n`);
  await described.sync();
  await described.close();
  // The description first, so that a copy is never without it.
  renameSync(`${part}.json`, descriptionOf(copy));
  renameSync(part, copy);
  await syncFolder(copy);
  return `Backed up ${database} to ${copy}: ${description.bytes} bytes, sha256 ${description.sha256}.`;
}

/** Resolves when the whole copy is on disk. */
async function fill(part: string, from: string): Promise<Description> {
  const file = await openPart(part);
  const begunAt = new Date().toISOString();
  const { document } = await loadOwnContract({ toErrorBody, domain });
  try {
    await syncUntil(copyAside({ from, to: part }), file, statSync(from).size);
    await file.sync();
  } catch (error) {
    throw new Error(`${from} cannot be copied: ${(error as Error).message}.`);
  } finally {
    await file.close();
  }
  const { faults, schema, rows } = lookInto(part);
  if (faults.length > 0) throw new Error(`${from} is damaged: ${faults.join('; ')}.`);
  return {
    begunAt,
    bytes: statSync(part).size,
    sha256: await toDigest(part),
    contract: { version: document.info.version, digest: CONTRACT_DIGEST },
    schema,
    rows,
  };
}

async function syncUntil(copying: Promise<void>, file: FileHandle, expected: number): Promise<void> {
  let isOver = false;
  const over = copying
    .catch(() => {})
    .then(() => {
      isOver = true;
    });
  while (!isOver) {
    await Promise.race([wait(SYNC_INTERVAL), over]);
    await file.datasync();
    const percent = Math.min(100, Math.floor((100 * (await file.stat()).size) / expected));
    if (process.stderr.isTTY) process.stderr.write(`\r${percent} % \r`);
  }
  await copying;
}
