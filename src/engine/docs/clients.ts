/** The clients to copy, which lie beside the contract: a folder for each language, with the client and how it is used. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export const CLIENTS = new URL('openapi/clients/', import.meta.resolve('#package'));

export interface ClientFile {
  /** `python/petstore.py`. */
  path: string;
  text: Buffer;
}

/** None where there is no such folder: a contract need not have any. */
export function loadClients(folder: URL = CLIENTS): ClientFile[] {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const paths = names.filter((name) => /^\w+\/\S+\.\w+$/.test(name)).sort();
  return paths.map((path) => ({ path, text: readFileSync(new URL(path, folder)) }));
}
