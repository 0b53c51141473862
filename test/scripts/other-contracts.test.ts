/**
 * Third-party contracts: the parts that the engine refuses are changed as the table of `npm run contract:inspect` says,
 * and all operations answer 501.
 */
import t, { type Test } from 'tap';
import { judge } from '../../src/contract-first/cli/inspect/judgement.ts';
import { notImplemented } from '../../src/contract-first/engine/errors/catalogue.ts';
import { toErrorBody as ownErrorBody } from '../../src/contract-first/engine/errors/error-body.ts';
import type { VerifyToken } from '../../src/contract-first/engine/tokens.ts';
import type { Claims } from '../../src/contract-first/registered.ts';
import { hashKey } from '../../src/contract-first/store/api-keys.ts';
import { load, withManyOperations } from '../added-operations.ts';
import { type OwnStore, openUrl } from '../database.ts';
import { changed, fileOf, OTHERS } from '../other-contracts.ts';
import { readOperations } from '../properties/operations.ts';
import { runProperties } from '../properties/property.ts';
import { requestProperties } from '../properties/request-properties.ts';
import { KEY, type Service, startService } from '../service.ts';

/** Accepts the tests' API key as a token with all scopes, and stored API keys as tokens without scopes. */
const buildVerifyToken =
  (store: OwnStore): VerifyToken<Claims> =>
  async (token) => {
    const { keys } = await store.readKeys();
    const isStored = keys.some(({ hash }) => hash === hashKey(token));
    if (token !== KEY && !isStored) return { refused: 'it is unknown' };
    return { id: token, claims: {}, scopes: isStored ? [] : ['write:pets', 'read:pets', 'board:read'] };
  };

/** Serves the contract with handlers that answer 501, like generated ones. */
async function start(t: Test, yaml: string, toErrorBody = ownErrorBody): Promise<Service> {
  const contract = await load(t, yaml);
  const handlers = Object.fromEntries([...contract.operations.keys()].map((id) => [id, notImplemented]));
  const store = openUrl('sqlite::memory:');
  const verifyToken = buildVerifyToken(store);
  const service = await startService(t, { contract, toErrorBody, store, verifyToken, handlers, yaml, keepAlive: true });
  t.match(await service.app.inject('/docs'), { statusCode: 200 }, 'the reference page of the contract is built');
  return service;
}

const refusedIn = async (file: string) => {
  const { rows } = await judge(file);
  const refused = rows.filter(({ problems }) => problems.length > 0);
  return refused.map(({ name, problems }) => [name, problems.map(({ problem }) => problem).join(' ')] as const);
};

for (const [name, { refused, toErrorBody }] of Object.entries(OTHERS)) {
  t.test(
    `once the reported problems of the contract ${name} are fixed, random requests get replies that fit the contract`,
    async (t) => {
      const found = await refusedIn(fileOf(name));
      t.strictSame(
        found.map(([operation]) => operation),
        Object.keys(refused),
      );
      for (const [operation, problems] of found) t.match(problems, refused[operation]);
      const yaml = changed(name);
      const service = await start(t, yaml, toErrorBody);
      await runProperties(t, requestProperties(service, readOperations(yaml)), 1 / 20);
    },
  );
}

t.test('a service with 120 operations starts, and answers 501 to each until its handler is written', async (t) => {
  const yaml = withManyOperations();
  const [time, memory] = [performance.now(), process.memoryUsage().rss];
  const { request } = await start(t, yaml);
  const [ms, bytes] = [performance.now() - time, process.memoryUsage().rss - memory];
  t.comment(`started in ${Math.round(ms)} ms, ${Math.round(bytes / 2 ** 20)} MB more`);
  for (const operation of readOperations(yaml)) {
    const body = operation.method === 'POST' ? { name: 'a' } : undefined;
    const { status } = await request(operation.path.replace('{id}', '1'), {
      method: operation.method,
      key: null,
      body,
    });
    t.equal(status, 501, operation.id);
  }
});
