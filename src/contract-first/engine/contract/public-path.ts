/** The contract as clients see it behind a proxy that strips a path. */
import { stringify } from 'lossless-json';
import type { AnyContract } from './contract.ts';
import type { Document } from './document.ts';
import { parseWithBigints } from './numbers.ts';

/**
 * Puts `publicPath`, such as `/shop`, before the paths of its servers, and of everything that the server refers to. The served YAML
 * is then JSON text, no longer the file.
 */
export function withPublicPath<Kind extends AnyContract>(contract: Kind, publicPath: string): Kind {
  if (publicPath === '') return contract;
  const source = parseWithBigints(contract.json) as Document;
  const servers = (source.servers ?? [{ url: '' }]).map((server) =>
    /^(\/(?!\/)|$)/.test(server.url) ? { ...server, url: publicPath + server.url } : server,
  );
  const json = stringify({ ...source, servers }) as string;
  return { ...contract, publicPath, json, yaml: Buffer.from(json), document: { ...contract.document, servers } };
}
