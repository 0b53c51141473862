/** `openapi/petstore.yaml`, read once. What the server cannot serve is refused here, with every problem at once. */
import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { stringify } from 'lossless-json';
import { parseDocument } from 'yaml';
import { type Contract, ContractError, type Json } from './contract.ts';
import { checkNumbers } from './numbers.ts';
import { toOperations } from './operations.ts';
import { resolveDocument } from './resolved.ts';
import { checkSecuritySchemes } from './security.ts';
import { toPrefix } from './servers.ts';

/** Made once: compiling the schema of OpenAPI takes longer than everything else here. */
const VALIDATOR = new Validator();
const DANGLING = /^Can't resolve /;
const CONTRACT = new URL('openapi/petstore.yaml', import.meta.resolve('#package'));

/** @throws ContractError */
export async function loadContract(file: URL | string = CONTRACT): Promise<Contract> {
  const yaml = readFileSync(file);
  const source = parseDocument(yaml.toString('utf8'), { intAsBigInt: true });
  if (source.errors.length > 0) throw new ContractError(source.errors.map((error) => error.message));
  const exact = source.toJS();
  const json = stringify(exact) as string;
  const document = JSON.parse(json);

  const { valid, errors } = await VALIDATOR.validate(document);
  if (!valid && !DANGLING.test(String(errors))) throw new ContractError(describeInvalidity(errors));

  const problems: string[] = [];
  const refuse = (problem: string) => problems.push(problem);
  const resolved = resolveDocument(document, refuse);
  // A reference to nothing is reported with its operation; the validator reports those that no operation uses.
  if (!valid && problems.length === 0) refuse(String(errors));
  if (problems.length > 0) throw new ContractError(problems);
  const operations = toOperations(resolved, refuse);
  checkNumbers(exact, '#', refuse);
  checkSecuritySchemes(resolved.components.securitySchemes, refuse);
  const prefix = toPrefix(document, refuse);
  if (problems.length > 0) throw new ContractError(problems);
  return { yaml, json, document, resolved, title: document.info.title, prefix, operations };
}

function describeInvalidity(errors: Json): string[] {
  if (!Array.isArray(errors)) return [String(errors)];
  return [...new Set(errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`))];
}
