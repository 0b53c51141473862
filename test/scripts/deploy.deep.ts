import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { parseAllDocuments } from 'yaml';
import { findFreePort } from '../../scripts/free-port.ts';
import { buildRequest, KEY } from '../service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DEPLOY = `${ROOT}scripts/deploy`;
/** The folder into which `npm test` has built the program. */
const PROGRAM = process.env.TEST_PROGRAM as string;

t.test('the systemd units are valid, and systemd rates the exposure of the service at 1.5 or better', async (t) => {
  const units = ['petstore.service', 'petstore.socket', 'petstore-backup.service', 'petstore-backup.timer'];
  const folder = t.testdir();
  for (const unit of units) {
    const text = readFileSync(`${DEPLOY}/${unit}`, 'utf8');
    writeFileSync(`${folder}/${unit}`, text.replaceAll('/usr/bin/node', process.execPath));
  }
  const scored = spawnSync(
    'systemd-analyze',
    ['security', '--offline=true', '--no-pager', '--threshold=15', `${folder}/petstore.service`],
    { encoding: 'utf8' },
  );
  t.equal(scored.status, 0, scored.stdout + scored.stderr);
  t.comment(scored.stdout.trim().split('\n').at(-1));
  const verified = spawnSync('systemd-analyze', ['verify', '--man=no', ...units.map((unit) => `${folder}/${unit}`)], {
    encoding: 'utf8',
  });
  t.notMatch(verified.stderr, /petstore.*(Unknown|Failed to parse|Invalid)/);
});

t.test('a server listens on the socket that systemd passes to it instead of on PORT', async (t) => {
  const port = await findFreePort();
  const own = { API_KEYS: KEY, DATABASE_URL: 'sqlite::memory:', DRAIN_DELAY: '0', PORT: '1' };
  const env = { ...process.env, ...own };
  const args = Object.keys(env).flatMap((name) => ['-E', name]);
  const child = spawn(
    'systemd-socket-activate',
    ['-l', `127.0.0.1:${port}`, ...args, process.execPath, `${PROGRAM}/src/main.js`],
    { env },
  );
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stderr, 'data');
  // The first connection starts the server, and waits until the server accepts it.
  const { status } = await buildRequest(port)('/v1/pets');
  t.equal(status, 200);
  child.kill('SIGTERM');
  t.strictSame(await once(child, 'exit'), [0, null]);
});

t.test('the nightly systemd backup keeps the last seven files and deletes older ones', async (t) => {
  const folder = t.testdir({ backups: {}, dist: {} });
  const unit = readFileSync(`${DEPLOY}/petstore-backup.service`, 'utf8').replaceAll('\\\n', '');
  const [, script = ''] = /^ExecStart=\/bin\/sh -euc '(.*)'$/m.exec(unit) ?? [];
  const shell = script
    .replaceAll('$$', '$')
    .replaceAll('%%', '%')
    .replaceAll('/var/lib/petstore', folder)
    .replaceAll('/srv/petstore', dirname(PROGRAM))
    .replaceAll('dist/', `${PROGRAM}/`);
  for (let day = 1; day <= 9; day++) writeFileSync(`${folder}/backups/2026010${day}T031500.db`, '');
  const env = { ...process.env, DATABASE_URL: `sqlite:${folder}/petstore.db`, NODE_OPTIONS: '', NODE_V8_COVERAGE: '' };
  const made = spawnSync(process.execPath, [`${PROGRAM}/src/main.js`, 'keys', 'create', 'a'], { env });
  t.equal(made.status, 0);
  const { status, stderr } = spawnSync('sh', ['-euc', shell], {
    env,
    encoding: 'utf8',
  });
  t.equal(status, 0, stderr);
  const names = readdirSync(`${folder}/backups`).sort();
  t.equal(names.length, 7);
  t.equal(names[0], '20260104T031500.db');
});

const CAN_BUILD = ['buildah', 'podman', 'mmdebstrap'].every((name) => spawnSync('which', [name]).status === 0);

t.test(
  'the container image is below 200 MB, runs as nobody on a read-only root, and stops at SIGTERM',
  { skip: !CAN_BUILD && 'needs buildah, podman and mmdebstrap' },
  async (t) => {
    const folder = t.testdir();
    const run = (command: string, ...args: string[]) =>
      execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    run(
      'mmdebstrap',
      '--quiet',
      '--variant=extract',
      '--include=base-files,libc6,libstdc++6,ca-certificates',
      '--aptopt=Acquire::Retries "5"',
      'bookworm',
      `${folder}/base.tar`,
      'http://deb.debian.org/debian',
    );
    run('podman', 'import', '--quiet', `${folder}/base.tar`, 'localhost/petstore-test-base');
    const context = prepareFirstStage(`${folder}/first`);
    const common = [
      '--isolation=chroot',
      '--format=docker',
      '--build-arg=BASE=localhost/petstore-test-base',
      `--build-context=build=${folder}/first`,
    ];
    run('buildah', 'build', ...common, '-f', `${DEPLOY}/Containerfile`, '-t', 'petstore-test', context);
    t.teardown(() => spawnSync('podman', ['rmi', '-f', 'petstore-test', 'petstore-test-base']));
    const size = Number(run('podman', 'image', 'inspect', 'petstore-test', '--format', '{{.Size}}')) / 1e6;
    t.comment(`${Math.round(size)} MB`);
    t.ok(size < 200);
    await runImage(t);
  },
);

/**
 * Makes the result of the first stage from the installed modules, because compiling better-sqlite3 again takes minutes.
 */
function prepareFirstStage(folder: string): string {
  const app = `${folder}/srv/petstore`;
  mkdirSync(`${folder}/data`, { recursive: true });
  mkdirSync(`${folder}/usr/local/bin`, { recursive: true });
  mkdirSync(app, { recursive: true });
  cpSync(process.execPath, `${folder}/usr/local/bin/petstore-node`, { dereference: true });
  for (const name of ['package.json', 'package-lock.json'])
    cpSync(`${ROOT}${name}`, `${app}/${name}`, { recursive: true });
  for (const name of ['package.json', 'bin', 'operate/config.md'])
    cpSync(`${ROOT}src/contract-first/${name}`, `${app}/src/contract-first/${name}`, { recursive: true });
  execFileSync('cp', ['-al', `${ROOT}node_modules`, app]);
  execFileSync('npm', ['prune', '--omit=dev', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: app,
    stdio: 'ignore',
  });
  const [, rest = ''] =
    /(rm -rf node_modules[^\n]*\\\n[^\n]*)\\\n/.exec(readFileSync(`${DEPLOY}/Containerfile`, 'utf8')) ?? [];
  execFileSync('sh', ['-euc', rest.replace('\\\n', '')], { cwd: app });
  cpSync(PROGRAM, `${app}/dist`, { recursive: true });
  renameSync(`${app}/dist/node_modules/contract-first/dist`, `${app}/src/contract-first/dist`);
  rmSync(`${app}/dist/node_modules`, { recursive: true });
  return app;
}

async function runImage(t: Test): Promise<void> {
  // On some machines that run these tests, limits cannot be raised, or cgroups are of the old version.
  const here = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1000:1000', '--no-healthcheck', '--network=host'];
  const runtime = existsSync('/sys/fs/cgroup/cgroup.controllers')
    ? []
    : ['--runtime=/usr/sbin/runc', '--cgroup-manager=cgroupfs'];
  const port = await findFreePort();
  const env = Object.entries({ HOST: '127.0.0.1', PORT: port, API_KEYS: KEY, DRAIN_DELAY: '0' }).map(
    ([name, value]) => `--env=${name}=${value}`,
  );
  const args = [
    'run',
    '--rm',
    '--name=petstore-test',
    '--read-only',
    '--cap-drop=all',
    ...here,
    ...env,
    'petstore-test',
  ];
  const child = spawn('podman', [...runtime, ...args]);
  t.teardown(() => spawnSync('podman', ['rm', '-f', 'petstore-test']));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text;
    });
  while (!output.includes('"listening"') && child.exitCode === null) await wait(100);
  const added = await buildRequest(port)('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
  t.equal(added.status, 201, output);
  const inside = (...command: string[]) =>
    spawnSync('podman', [...runtime, 'exec', 'petstore-test', ...command], { encoding: 'utf8' });
  const [, healthcheck = '[]'] =
    /HEALTHCHECK [^\n]*\\\n (.*)/.exec(readFileSync(`${DEPLOY}/Containerfile`, 'utf8')) ?? [];
  t.equal(inside(...JSON.parse(healthcheck)).status, 0);
  t.match(
    inside(
      '/usr/local/bin/node',
      '-p',
      'try { fs.writeFileSync("/srv/x", "") } catch ({ code }) { code + process.getuid() }',
    ).stdout,
    'EROFS65532',
  );
  spawnSync('podman', [...runtime, 'kill', '--signal=TERM', 'petstore-test']);
  t.strictSame(await once(child, 'exit'), [0, null], output);
}

t.test('the Kubernetes manifest uses only settings, ports and paths that the service has', async (t) => {
  const documents = parseAllDocuments(readFileSync(`${DEPLOY}/kubernetes.yaml`, 'utf8')).map((document) =>
    document.toJS(),
  );
  t.strictSame(
    documents.map(({ kind }) => kind),
    ['Deployment', 'Service', 'PodDisruptionBudget'],
  );
  const [{ spec }] = documents;
  const [container] = spec.template.spec.containers;
  const source = readFileSync(`${ROOT}src/contract-first/operate/config.ts`, 'utf8');
  for (const { name } of container.env) t.match(source, name.replace(/_FILE$/, ''));
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
    t.match(container[probe].httpGet.path, /^\/(livez|readyz)$/);
  for (const { spec: other } of documents.slice(1))
    t.match(spec.template.metadata.labels, other.selector.matchLabels ?? other.selector);
});
