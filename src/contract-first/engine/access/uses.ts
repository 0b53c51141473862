/** When keys were used last: noted in memory, and written once a minute. */
import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';

/** How often the uses are written, in milliseconds. A process that is killed loses those since the last write. */
const INTERVAL = 60_000;

/** Whether a key was used since that was last written. */
export interface Use {
  isNew: boolean;
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
    const taken = [...uses].filter(([, { isNew }]) => isNew);
    for (const [, use] of taken) use.isNew = false;
    if (taken.length === 0) return;
    try {
      await store.addUses(taken.map(([keyId]) => ({ keyId, usedAt })));
    } catch (error) {
      logger.warn({ err: error }, 'the uses of keys could not be written');
    }
  }

  const writing = setInterval(write, INTERVAL).unref();
  return {
    of: (keyId) => {
      const use = uses.get(keyId) ?? { isNew: false };
      uses.set(keyId, use);
      return use;
    },
    stop: () => {
      clearInterval(writing);
      return write();
    },
  };
}
