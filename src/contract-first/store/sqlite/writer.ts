/**
 * The code of the writing thread. The thread uses its own connection, so that reads in the event loop do not wait for
 * an fsync.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import type { TransactionsModule } from '../changes/transactions.ts';
import { type OutageKind, StoreUnavailable } from '../store.ts';
import { toStoredTables } from '../tables/record-codec.ts';
import type { Table } from '../tables/table.ts';
import {
  checkInodes,
  type Inodes,
  isSpent,
  openConnection,
  proveWritable,
  toStoreError,
  tryCreates,
} from './connection.ts';
import { Driver, KEYS } from './drive.ts';
import { retryWhileBusy, TURN_INTERVAL } from './transaction.ts';
import { type Batch, prepareWriteAll, TooLong, type Written } from './writes.ts';

/** The database that the thread writes to. */
export interface Target {
  file: string;
  inodes: Inodes;
  tables: Table[];
  /** The URL of the module with the domain's transactions; '' if the thread needs no module. */
  source: string;
}

/** The last uses of keys, as a JSON array. The thread does not send an answer for them. */
interface Uses {
  uses: string;
}

/**
 * A task for the thread. An empty batch tests whether records can be inserted, and whether the disk can be written.
 * `hold` opens the connection if it is closed, and does nothing else.
 */
type Task = Batch | Uses | 'hold';

const isUses = (task: Task): task is Uses => typeof task === 'object' && 'uses' in task;

/** The answer to a task: the outcomes of the task's writes, or the reason why nothing was written. */
export type Answer = Written | NotDone;
/**
 * The reason why nothing was written. If `kind` is undefined, one write of the batch has caused the error, and `at` is
 * the index of that write if the thread knows it.
 */
interface NotDone {
  kind: OutageKind | undefined;
  code: string | undefined;
  message: string;
  at: number | undefined;
}

/** How often the thread checks its files, in milliseconds. The thread also checks them before each write. */
const LOOK_INTERVAL = 1000;

const NOTHING: Written = { now: '', first: {}, changes: [] };

const port = parentPort as NonNullable<typeof parentPort>;
const { file, inodes, tables, source } = workerData as Target;
const loaded = source === '' ? undefined : ((await import(source)) as TransactionsModule);
const stored = toStoredTables(tables, (await loaded?.loadCodecs()) ?? {});
const calls = loaded?.transactions.all ?? {};
let db: Database | undefined;
let writeAll: ReturnType<typeof prepareWriteAll> | undefined;
let addUses: ((uses: string) => void) | undefined;

/**
 * Opens the connection unless it is already open. The thread closes the connection after some failed writes, because a
 * connection that was opened read-only stays read-only.
 */
function open(): ReturnType<typeof prepareWriteAll> {
  db ??= openConnection(file, { fileMustExist: true, busyTimeout: TURN_INTERVAL });
  return prepareWriteAll(db, stored, calls);
}

function close(): void {
  db?.close();
  db = undefined;
  writeAll = undefined;
  addUses = undefined;
}

/**
 * Checks the files. If the `-wal` file was removed, a checkpoint saves its content before the error is thrown.
 * Otherwise the content would be lost when this connection is closed.
 */
function look(): void {
  try {
    checkInodes(inodes);
  } catch (error) {
    db?.pragma('wal_checkpoint(PASSIVE)');
    throw error;
  }
}

function run(task: Task): Answer {
  try {
    look();
    return retryWhileBusy(() => {
      writeAll ??= open();
      if (task === 'hold') return NOTHING;
      if (isUses(task)) {
        addUses ??= new Driver(db as Database).bind(KEYS.addUses);
        addUses(task.uses);
        return NOTHING;
      }
      if (Object.keys(task.rows).length + task.changes.length === 0) {
        tryCreates(db as Database, tables);
        proveWritable(db as Database);
      }
      return writeAll(task);
    });
  } catch (thrown) {
    const error = toStoreError(thrown);
    const kind = error instanceof StoreUnavailable ? error.kind : undefined;
    const { code, message } = (kind ? (error as Error).cause : error) as { code?: string; message: string };
    if (isSpent(code)) close();
    return { kind, code, message, at: error instanceof TooLong ? error.at : undefined };
  }
}

function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    close();
  }
}

tryTo(() => {
  look();
  writeAll = open();
});
setInterval(() => tryTo(look), LOOK_INTERVAL).unref();

port.on('message', (task: Task | 'stop') => {
  if (task === 'stop') {
    close();
    port.close();
  } else {
    const answer = run(task);
    if (!isUses(task)) port.postMessage(answer);
  }
});
