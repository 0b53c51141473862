/** The option `--check`: prints the settings that a start would use, and their problems. The check changes nothing. */
import { lookup } from 'node:dns/promises';
import type { Contract } from '../../engine/contract/contract.ts';
import { checkStoredRecords } from '../../engine/routes/stored-records.ts';
import { toPrintableLines } from '../../json/literals.ts';
import { loadServed } from '../../start/opening.ts';
import type { Service } from '../../start/service.ts';
import { inspectDatabase, inspectDisk, nameOfDatabase } from '../../store/open-store.ts';
import type { Inspection } from '../../store/store.ts';
import type { RecordCheck } from '../../store/tables/migrate.ts';
import { type Config, ConfigError, loadConfig } from '../config.ts';
import { MAKE_KEY, takesKeys } from '../process/one-run-key.ts';
import { loadOpenTelemetry } from '../telemetry/open-telemetry.ts';

/** The number of free bytes below which a disk counts as full. */
const LEAST_FREE = 64 * 1024 * 1024;

/** Prints a line for each step of a start. Returns true if no step has a problem. */
export async function checkStart(
  env: Record<string, string | undefined>,
  report: (text: string) => void,
  service: Service,
  leastFree = LEAST_FREE,
): Promise<boolean> {
  const { check, wrong } = buildCheck(report);
  const config = await check('configuration', () => findConfig(env, service));
  const contract = await check('contract', () => findContract(config, service));
  if (config) {
    const { database } = config;
    await check('addresses', () => findAddresses(config));
    if (config.isTraced) await check('traces', () => findTraces(service));
    const found = await check('database', () => findDatabase(config, service));
    if (database.kind === 'sqlite') await check('disk', () => findDisk(database.file, leastFree));
    const isTaken = !contract || takesKeys(contract, service.verifyToken);
    if (found) await check('keys', () => [findKeys(config, found, isTaken)]);
    if (contract && found && found.version > 0)
      await check('records', () => findRecords(config, contract, found, service));
  }
  return wrong.length === 0;
}

/** The result of a step: the line to print, and a value that later steps use. */
type Finding<Found> = [line: string, found?: Found];

function buildCheck(report: (text: string) => void) {
  const wrong: string[] = [];
  /**
   * Runs a step, and prints its line after the name `part`. Returns the value that the step found, or undefined if the
   * step failed.
   */
  async function check<Found>(part: string, find: () => Finding<Found> | Promise<Finding<Found>>) {
    try {
      const [line, found] = await find();
      report(`${part}: ${line}`);
      return found;
    } catch (error) {
      wrong.push(part);
      report(`${part}: WRONG: ${toPrintableLines((error as Error).message)}`);
      return undefined;
    }
  }
  return { check, wrong };
}

function findConfig(env: Record<string, string | undefined>, service: Service): Finding<Config> {
  const used = new Map<string, string>();
  const config = loadConfig(env, service, used);
  const settings = [...used].map(([name, value]) => `  ${name}=${value}`);
  const lines = ['as follows', ...settings, ...config.warnings.map((warning) => `  Warning: ${warning}`)];
  return [lines.join('\n'), config];
}

async function findContract(config: Config | undefined, service: Service): Promise<Finding<Contract>> {
  const contract = await loadServed(service, config ?? { publicPath: '', isProduction: false });
  const { title, operations, digest } = contract;
  return [`${title}, ${operations.size} operations, digest ${digest.slice(0, 12)}`, contract];
}

/** The addresses that mean all addresses of the machine. */
const WILDCARDS = ['0.0.0.0', '::'];

/** Resolves the addresses without listening, because the service may already be running. */
async function findAddresses({ host, port, socket, adminHost, adminPort }: Config): Promise<Finding<never>> {
  const all = socket === undefined ? [await toAddress(host, port)] : ['the socket that was passed'];
  if (adminPort === undefined) return [all.join(', ')];
  const admin = await toAddress(adminHost, adminPort);
  const isWild = [host, adminHost].some((name) => WILDCARDS.includes(name));
  if (adminPort !== 0 && adminPort === port && (isWild || all.includes(admin)))
    throw new Error(`PORT and ADMIN_PORT are both ${port}`);
  return [[...all, `${admin} for operators`].join(', ')];
}

async function toAddress(host: string, port: number): Promise<string> {
  // `verbatim: false` returns an IPv4 address if there is one. The server also prefers IPv4.
  const { address } = await lookup(host, { verbatim: false });
  return `${address}:${port}`;
}

function findTraces({ contract }: Service): Finding<never> {
  loadOpenTelemetry(contract);
  return ['OpenTelemetry is installed'];
}

async function findDatabase({ database }: Config, { domain }: Service): Promise<Finding<Inspection>> {
  const found = await inspectDatabase(database, domain);
  return [`${nameOfDatabase(database)}: ${toFate(found)}`, found];
}

function toFate({ version, newest, pending }: Inspection): string {
  if (version === 0) return 'it would be made';
  if (pending.length === 0) return `version ${version}`;
  return `it would be migrated from version ${version} to ${newest}, by ${pending.join(', ')}`;
}

function findDisk(file: string, leastFree: number): Finding<never> {
  const free = inspectDisk(file);
  if (free < leastFree) throw new Error(`only ${free} bytes are free`);
  return [`${Math.floor(free / 1024 ** 2)} MB are free`];
}

/** Checks the stored records. @throws ContractError if records do not fit the contract: the start would also fail */
async function findRecords(
  { database }: Config,
  contract: Contract,
  { pending }: Inspection,
  { domain }: Service,
): Promise<Finding<never>> {
  if (pending.length > 0) return ['checked when the database is migrated'];
  const countInvalidRecords = async (...records: RecordCheck) => {
    await inspectDatabase(database, domain, records);
    return 0;
  };
  await checkStoredRecords(contract, domain, { countInvalidRecords });
  return ['all fit the contract'];
}

export function findKeys({ apiKeys, isProduction }: Config, { validKeys, keys }: Inspection, isTaken: boolean): string {
  if (!isTaken) return 'none is needed: the contract takes third-party tokens alone';
  const known = `${validKeys} stored keys are valid, and ${apiKeys.length} of the configuration`;
  if (validKeys + apiKeys.length > 0) return known;
  if (keys > 0) return `${known}: every caller is refused`;
  if (isProduction) throw new ConfigError(`there is none: make one with ${MAKE_KEY}`);
  return 'there is none: one for the run would be made';
}
