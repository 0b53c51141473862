/** The clients to copy: a folder for each language, with the client and a README. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ClientFile {
  /** `python/client.py`. */
  path: string;
  text: Buffer;
}

/** None if there is no such folder: a contract need not have clients. */
export function loadClients(folder: URL | undefined): ClientFile[] {
  const names = folder && existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const paths = names.filter((name) => /^\w+\/\S+\.\w+$/.test(name)).sort();
  return paths.map((path) => ({ path, text: readFileSync(new URL(path, folder)) }));
}
