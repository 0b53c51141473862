/** Changes of a contract by the operator: other servers, or another path, than its own. */
import { stringify } from 'lossless-json';
import type { AnyContract } from './contract.ts';
import type { Document } from './document.ts';
import { parseWithBigints } from './numbers.ts';

/**
 * Puts `publicPath`, such as `/shop`, which a proxy strips, before the paths of its servers, and of everything that the server refers
 * to.
 */
export function withPublicPath<Kind extends AnyContract>(contract: Kind, publicPath: string): Kind {
  if (publicPath === '') return contract;
  return { ...withServers(contract, (url) => (/^(\/(?!\/)|$)/.test(url) ? publicPath + url : url)), publicPath };
}

/** Puts `prefix` in place of the contract's own, in its servers too. */
export function withPrefix<Kind extends AnyContract>(contract: Kind, prefix: string): Kind {
  const { prefix: old } = contract;
  if (prefix === old) return contract;
  const toUrl = (url: string) => {
    const start = url.replace(/(?<!\/)\/+$/, '');
    return start.endsWith(old) ? start.slice(0, start.length - old.length) + prefix || '/' : url;
  };
  return { ...withServers(contract, toUrl), prefix };
}

function withServers<Kind extends AnyContract>(contract: Kind, toUrl: (url: string) => string): Kind {
  const source = parseWithBigints(contract.json) as Document;
  const servers = (source.servers ?? [{ url: '' }]).map((server) => ({ ...server, url: toUrl(server.url) }));
  const json = stringify({ ...source, servers }) as string;
  const { text, serversAt } = toYaml(contract, stringify(servers) as string, json);
  return { ...contract, json, yaml: Buffer.from(text), serversAt, document: { ...contract.document, servers } };
}

/** The file with these servers: as one line of JSON, which is also YAML. The rest is unchanged, with its comments. */
function toYaml({ yaml, serversAt }: AnyContract, servers: string, json: string) {
  if (!serversAt) return { text: json, serversAt };
  const file = yaml.toString('utf8');
  const [start, end] = serversAt;
  const before = file.slice(0, start) + (start === end ? '\nservers:' : '');
  const at: [number, number] = [before.length + 1, before.length + 1 + servers.length];
  return { text: `${before} ${servers}\n${file.slice(end)}`, serversAt: at };
}
