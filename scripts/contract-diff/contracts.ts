/** Compares two versions of the contract: what changed between them, and what each change does to clients. */
import { isDeepStrictEqual } from 'node:util';
import { type Change, type Changes, compareRest, describe, pairs, toChange } from './change.ts';
import { expandContract, type Json } from './expand.ts';
import { compareOperations } from './operations.ts';
import { compareServers } from './servers.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** The changes from one YAML to the other. `today` (2026-11-20) decides whether a deprecated operation may go. */
export function compareContracts(before: string, after: string, today: string): Change[] {
  const [old, now] = [expandContract(before), expandContract(after)];
  // That the version fits is for the gate to say.
  old.info.version = now.info.version;
  const changes = [...compareParts(old, now, today)];
  if (changes.length === 0 && !isDeepStrictEqual(old, now)) {
    changes.push(toChange('documentation', 'contract', 'its parts are arranged in another way', 'It says the same.'));
  }
  return changes;
}

function* compareParts(before: Json, after: Json, today: string): Changes {
  const release = ({ openapi }: Json) => String(openapi).split('.', 2).join('.');
  if (release(before) !== release(after)) {
    const why = 'Tools that clients are generated with may not know it.';
    yield toChange('breaking', 'contract', describe('openapi', before.openapi, after.openapi), why);
  }
  for (const [key, old, now] of pairs(before.info, after.info)) {
    if (!isDeepStrictEqual(old, now)) yield toChange('documentation', 'info', `${key} changed`, 'Only people read it.');
  }
  if (!isDeepStrictEqual(before.tags, after.tags)) {
    yield toChange('documentation', 'tags', 'their descriptions or order changed', 'Only people read it.');
  }
  yield* compareServers(before.servers, after.servers);
  yield* comparePaths(before, after, today);
  yield* compareSecuritySchemes(before.components?.securitySchemes, after.components?.securitySchemes);
  const judged = ['openapi', 'info', 'tags', 'servers', 'security', 'paths', 'components'];
  yield* compareRest(before, after, 'contract', judged);
}

function* comparePaths(before: Json, after: Json, today: string): Changes {
  for (const [name, old, now] of pairs(toOperations(before), toOperations(after))) {
    if (old && now) yield* compareOperations(old, now);
    else if (now) yield toChange('compatible', now.operationId, `was added, as ${name}`, 'The others work as before.');
    else if (old.deprecated && old['x-sunset'] <= today) {
      yield toChange('compatible', old.operationId, `was removed from ${name}`, `Its x-sunset was ${old['x-sunset']}.`);
    } else yield toChange('breaking', old.operationId, `was removed from ${name}`, 'Requests to it find nothing.');
  }
  for (const [path, old = {}, now = {}] of pairs(before.paths, after.paths)) {
    yield* compareRest(old, now, path, [...METHODS, 'parameters']);
  }
}

/** The operations by method and path, each with what it takes over from its path and from the contract. */
function toOperations({ paths, security }: Json): Json {
  const entries = Object.entries<Json>(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const operation = item[method];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      return [`${method.toUpperCase()} ${path}`, { security, ...operation, parameters }];
    }),
  );
  return Object.fromEntries(entries);
}

/** Whatever is used of the components has been compared where it is used. */
function* compareSecuritySchemes(before: Json, after: Json): Changes {
  for (const [name, old, now] of pairs(before, after)) {
    const why = 'Requests that carry the key as before are refused now.';
    if (old && now) yield* compareRest(old, now, `security scheme ${name}`, [], why);
  }
}
