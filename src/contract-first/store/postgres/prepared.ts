/** The statements that PostgreSQL keeps prepared for a connection: it parses and plans them once, which is half of a small one's cost. */
import { LRUCache } from 'lru-cache';
import type pg from 'pg';

/** How many a connection has at most, the latest used ones: lists have statements of their own for each set of filters. */
const MOST = 200;

/** How long a plan is used, in milliseconds: a table may have been nearly empty when it was made, and be large now. */
const FRESH = 10_000;

/** pg's own notes of what is prepared. */
interface Noting {
  parsedStatements: Record<string, string>;
}

export class PreparedStatements {
  isOn = false;
  #made = 0;
  #since = performance.now();
  readonly #names: LRUCache<string, string>;

  constructor(connection: pg.Connection) {
    const { parsedStatements } = connection as unknown as Noting;
    const dispose = (name: string) => {
      // Sent ahead of the next statement; it waits for no answer.
      connection.close({ type: 'S', name }, true);
      delete parsedStatements[name];
    };
    this.#names = new LRUCache({ max: MOST, dispose });
  }

  /** The name under which a statement is prepared when it is run; undefined if it is not to be. */
  nameOf(sql: string): string | undefined {
    if (!this.isOn) return undefined;
    if (performance.now() - this.#since > FRESH) this.forgetAll();
    const name = this.#names.get(sql) ?? `s${++this.#made}`;
    this.#names.set(sql, name);
    return name;
  }

  forgetAll(): void {
    this.#names.clear();
    this.#since = performance.now();
  }
}
