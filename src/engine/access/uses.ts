/** When keys were used last, and how often for deprecated operations: counted in memory, and written once a minute. */
import type { Logger } from 'pino';
import type { KeyUse, Store } from '../../store/store.ts';

/** How often the uses are written, in milliseconds. A process that is killed loses those since the last write. */
const INTERVAL = 60_000;

/** The uses of a key since they were last written. */
export class Use {
  isNew = false;
  readonly deprecated = new Map<string, number>();

  countDeprecated(operationId: string): void {
    this.deprecated.set(operationId, (this.deprecated.get(operationId) ?? 0) + 1);
  }
}

export interface Uses {
  of(keyId: string): Use;
  /** Writes the uses since the last write. */
  stop(): Promise<void>;
}

export function buildUses(store: Store, logger: Logger): Uses {
  const uses = new Map<string, Use>();

  async function write(): Promise<void> {
    const usedAt = new Date().toISOString();
    const taken = [...uses].flatMap(([keyId, use]) => take(keyId, use, usedAt));
    if (taken.length === 0) return;
    try {
      await store.addUses(taken);
    } catch (error) {
      logger.warn({ err: error }, 'the uses of keys could not be written');
    }
  }

  const writing = setInterval(write, INTERVAL).unref();
  return {
    of: (keyId) => {
      const use = uses.get(keyId) ?? new Use();
      uses.set(keyId, use);
      return use;
    },
    stop: () => {
      clearInterval(writing);
      return write();
    },
  };
}

function take(keyId: string, use: Use, usedAt: string): KeyUse[] {
  if (!use.isNew) return [];
  const deprecated = [...use.deprecated].map(([operationId, count]) => ({ keyId, operationId, count, usedAt }));
  use.isNew = false;
  use.deprecated.clear();
  return [{ keyId, operationId: '', count: 0, usedAt }, ...deprecated];
}
