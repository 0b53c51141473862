/** The clients to copy, in the contract's folder: a folder for each language, with the client and a README. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

export const CLIENTS = new URL('openapi/clients/', pathToFileURL(`${process.cwd()}/`));

export interface ClientFile {
  /** `python/petstore.py`. */
  path: string;
  text: Buffer;
}

/** None if there is no such folder: a contract need not have clients. */
export function loadClients(folder: URL = CLIENTS): ClientFile[] {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const paths = names.filter((name) => /^\w+\/\S+\.\w+$/.test(name)).sort();
  return paths.map((path) => ({ path, text: readFileSync(new URL(path, folder)) }));
}
