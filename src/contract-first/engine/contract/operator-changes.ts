/** Changes a contract as the operator's settings demand: its servers, or its prefix. */
import { stringify } from 'lossless-json';
import type { AnyContract } from './contract.ts';
import type { Document } from './document.ts';
import { parseWithBigints } from './numbers.ts';

/**
 * Sets `publicPath`: a path such as `/shop` that a proxy strips from requests. The path is added to the URLs of the
 * contract's servers, and to every link that the server sends.
 */
export function withPublicPath<Kind extends AnyContract>(contract: Kind, publicPath: string): Kind {
  if (publicPath === '') return contract;
  return { ...withServers(contract, (url) => (/^(\/(?!\/)|$)/.test(url) ? publicPath + url : url)), publicPath };
}

/** Replaces the prefix of a contract. The old prefix is also replaced at the end of each server's URL. */
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

/**
 * Returns the text of the YAML file with the list of servers replaced. The new list is one line of JSON, which is also
 * valid YAML. The rest of the file, including its comments, is unchanged.
 */
function toYaml({ yaml, serversAt }: AnyContract, servers: string, json: string) {
  if (!serversAt) return { text: json, serversAt };
  const file = yaml.toString('utf8');
  const [start, end] = serversAt;
  const before = file.slice(0, start) + (start === end ? '\nservers:' : '');
  const at: [number, number] = [before.length + 1, before.length + 1 + servers.length];
  return { text: `${before} ${servers}\n${file.slice(end)}`, serversAt: at };
}
