/** The databases that the servers start on: made once for each number of pets, and copied for each start. */

export interface Databases {
  /** Makes a database of so many pets by the service's own migrations, as if it had served this contract before. */
  seed(rows: number): Promise<void>;
  /** A copy that is on the disk: otherwise it would be written while a server waits for its own fsync. */
  copy(rows: number, name: string): Promise<Copy>;
  /** The process of the database, where it has one. */
  pid?: number;
  stop(): Promise<void>;
}

export interface Copy {
  url: string;
  drop(): Promise<void>;
}
