/** `node dist/src/main.js --check` prints what a start would use, and what is wrong with it. Nothing is changed. */
import { lookup } from 'node:dns/promises';
import { checkTokens } from '../../engine/access/token-auth.ts';
import { toPrintableLines } from '../../json/literals.ts';
import { loadServed } from '../../opening.ts';
import type { Service } from '../../service.ts';
import { inspectDatabase, inspectDisk, nameOfDatabase } from '../../store/open-store.ts';
import type { Inspection } from '../../store/store.ts';
import { type Config, ConfigError, loadConfig } from '../config.ts';
import { MAKE_KEY, takesKeys } from '../process/one-run-key.ts';

/** A disk with less free space, in bytes, counts as full. */
const LEAST_FREE = 64 * 1024 * 1024;

/** Prints a line for each part of the start. Returns whether all are right. */
export async function checkStart(
  env: Record<string, string | undefined>,
  report: (text: string) => void,
  service: Service,
  leastFree = LEAST_FREE,
): Promise<boolean> {
  const { domain, verifyToken } = service;
  const findings = new Findings(report);
  const used = new Map<string, string>();
  const config = await findings.check(
    'configuration',
    () => loadConfig(env, service, used),
    (config) => toSettings(used, config),
  );
  const contract = await findings.check(
    'contract',
    () => findContract(config, service),
    ({ title, operations, digest }) => {
      return `${title}, ${operations.size} operations, digest ${digest.slice(0, 12)}`;
    },
  );
  if (!config) return findings.areRight;
  await findings.check(
    'addresses',
    () => findAddresses(config),
    (addresses) => addresses.join(', '),
  );
  const { database } = config;
  const toLine = (found: Inspection) => `${nameOfDatabase(database)}: ${toFate(found)}`;
  const found = await findings.check('database', () => inspectDatabase(database, domain), toLine);
  if (database.kind === 'sqlite') {
    const toFree = (free: number) => `${Math.floor(free / 1024 ** 2)} MB are free`;
    await findings.check('disk', () => findDisk(database.file, leastFree), toFree);
  }
  if (found)
    await findings.check(
      'keys',
      () => findKeys(config, found, !contract || takesKeys(contract, verifyToken)),
      (text) => text,
    );
  return findings.areRight;
}

class Findings {
  areRight = true;
  readonly #report: (text: string) => void;

  constructor(report: (text: string) => void) {
    this.#report = report;
  }

  /** Prints the result of a check, and returns it; undefined if it failed. */
  async check<Found>(part: string, find: () => Found | Promise<Found>, toLine: (found: Found) => string) {
    try {
      const found = await find();
      this.#report(`${part}: ${toLine(found)}`);
      return found;
    } catch (error) {
      this.areRight = false;
      this.#report(`${part}: WRONG: ${toPrintableLines((error as Error).message)}`);
      return undefined;
    }
  }
}

function toSettings(used: Map<string, string>, { warnings }: Config): string {
  const settings = [...used].map(([name, value]) => `  ${name}=${value}`);
  return ['as follows', ...settings, ...warnings.map((warning) => `  Warning: ${warning}`)].join('\n');
}

async function findContract(config: Config | undefined, service: Service) {
  const contract = await loadServed(service, config ?? { extendedSunsets: new Map(), publicPath: '' });
  checkTokens(contract, service.verifyToken);
  return contract;
}

/** These stand for every address of the machine. */
const WILDCARDS = ['0.0.0.0', '::'];

/** Resolves the addresses without listening: the service may be running already. */
async function findAddresses({ host, port, socket, adminHost, adminPort }: Config): Promise<string[]> {
  const all = socket === undefined ? [await toAddress(host, port)] : ['the socket that was passed'];
  if (adminPort === undefined) return all;
  const admin = await toAddress(adminHost, adminPort);
  const isWild = [host, adminHost].some((name) => WILDCARDS.includes(name));
  if (adminPort !== 0 && adminPort === port && (isWild || all.includes(admin)))
    throw new Error(`PORT and ADMIN_PORT are both ${port}`);
  return [...all, `${admin} for operators`];
}

async function toAddress(host: string, port: number): Promise<string> {
  // IPv4 first, like the server.
  const { address } = await lookup(host, { verbatim: false });
  return `${address}:${port}`;
}

function toFate({ version, newest, pending }: Inspection): string {
  if (version === 0) return 'it would be made';
  if (pending.length === 0) return `version ${version}`;
  return `it would be migrated from version ${version} to ${newest}, by ${pending.join(', ')}`;
}

function findDisk(file: string, leastFree: number): number {
  const free = inspectDisk(file);
  if (free < leastFree) throw new Error(`only ${free} bytes are free`);
  return free;
}

export function findKeys({ apiKeys, isProduction }: Config, { validKeys, keys }: Inspection, isTaken: boolean): string {
  if (!isTaken) return 'none is needed: the contract takes third-party tokens alone';
  const known = `${validKeys} stored keys are valid, and ${apiKeys.length} of the configuration`;
  if (validKeys + apiKeys.length > 0) return known;
  if (keys > 0) return `${known}: every caller is refused`;
  if (isProduction) throw new ConfigError(`there is none: make one with ${MAKE_KEY}`);
  return 'there is none: one for the run would be made';
}
