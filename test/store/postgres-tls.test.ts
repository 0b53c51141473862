/** Which servers a connection to PostgreSQL trusts. A TLS server in this test acts as PostgreSQL, or as an impostor. */
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { buildConnect } from '../../src/contract-first/store/postgres/primary.ts';
import { type PostgresSettings, parsePostgresUrl } from '../../src/contract-first/store/postgres/settings.ts';

const fileOf = (name: string) => fileURLToPath(new URL(`certificate/${name}`, import.meta.url));
/** The server's certificate, issued for `localhost`, another certificate, and the server's private key. */
const [OWN, OTHER, KEY] = ['server.crt', 'other.crt', 'server.key'].map(fileOf) as [string, string, string];
const PEM = { cert: readFileSync(OWN), key: readFileSync(KEY) };

/** The first message of a client, which asks whether the server supports TLS (PostgreSQL, section 54.2.11). */
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');
/** The first byte of a TLS handshake (RFC 8446, section 5.1). */
const HANDSHAKE = 22;

/** Starts a TLS server with the certificate `OWN`, which records what clients send. */
async function startImpostor(t: Test) {
  const heard = { plain: '', encrypted: '', certificate: '' };
  const options = { ...PEM, requestCert: true, rejectUnauthorized: false, ALPNProtocols: ['postgresql'] };
  const secure = createTlsServer(options, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      heard.encrypted += bytes;
      heard.certificate = String(socket.getPeerCertificate().subject?.CN ?? '');
      socket.destroy();
    });
  });
  secure.on('tlsClientError', () => {});
  const front = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (bytes) => {
      const isAsked = bytes.equals(SSL_REQUEST);
      if (!isAsked && bytes[0] !== HANDSHAKE) {
        heard.plain += bytes;
        socket.destroy();
        return;
      }
      const behind = connect((secure.address() as AddressInfo).port, '127.0.0.1');
      behind.on('error', () => socket.destroy());
      behind.on('close', () => socket.destroy());
      if (isAsked) socket.write('S');
      else behind.write(bytes);
      socket.pipe(behind).pipe(socket);
    });
  });
  await Promise.all([once(secure.listen(0, '127.0.0.1'), 'listening'), once(front.listen(0), 'listening')]);
  t.teardown(() => [front.close(), secure.close()]);
  const { port } = front.address() as AddressInfo;
  /** Connects a client with these URL options. Returns what the server received. */
  return async (host: string, query: string) => {
    Object.assign(heard, { plain: '', encrypted: '', certificate: '' });
    const settings = parsePostgresUrl(
      `postgres://ada:secret@${host}:${port}/pets?${query}`,
      'petstore',
    ) as PostgresSettings;
    const message = await buildConnect(settings)({ toConnect: 20_000, toAnswer: 20_000 }).then(
      () => '',
      (error: Error) => error.message,
    );
    return { ...heard, message };
  };
}

t.test('the store sends no data to a PostgreSQL server whose certificate it does not trust', async (t) => {
  const listen = await startImpostor(t);
  for (const [host, options, reason] of [
    ['localhost', `sslmode=require&sslrootcert=${OTHER}`, /self-signed|unable to verify/],
    ['localhost', `sslmode=verify-ca&sslrootcert=${OTHER}`, /self-signed|unable to verify/],
    ['localhost', `sslmode=verify-full&sslrootcert=${OTHER}`, /self-signed|unable to verify/],
    ['localhost', 'sslmode=verify-full&sslrootcert=system', /self-signed/],
    ['localhost', `sslmode=verify-full&sslrootcert=${OTHER}&sslnegotiation=direct`, /self-signed|unable to verify/],
    ['127.0.0.1', `sslmode=verify-full&sslrootcert=${OWN}`, /does not match/],
  ] as const) {
    const { plain, encrypted, message } = await listen(host, options);
    t.strictSame([plain, encrypted], ['', ''], options);
    t.match(message, reason, options);
  }
});

t.test('the store encrypts its connection to a PostgreSQL server whose certificate it trusts', async (t) => {
  const listen = await startImpostor(t);
  for (const [host, options] of [
    ['127.0.0.1', 'sslmode=require'],
    ['127.0.0.1', `sslmode=require&sslrootcert=${OWN}`],
    ['127.0.0.1', `sslmode=verify-ca&sslrootcert=${OWN}`],
    ['localhost', `sslmode=verify-full&sslrootcert=${OWN}`],
    ['localhost', `sslmode=verify-full&sslrootcert=${OWN}&sslnegotiation=direct`],
  ] as const) {
    const { plain, encrypted, certificate } = await listen(host, options);
    t.strictSame([plain, /user\0ada\0/.test(encrypted), certificate], ['', true, ''], options);
  }
});

t.test(
  'the store sends PostgreSQL its client certificate; if other users can read the key file, the start fails',
  async (t) => {
    const listen = await startImpostor(t);
    const folder = t.testdir({ key: PEM.key.toString() });
    const options = `sslmode=require&sslcert=${OWN}&sslkey=${folder}/key`;
    chmodSync(`${folder}/key`, 0o644);
    await t.rejects(listen('localhost', options), { message: `${folder}/key can be read by others: chmod 600` });
    chmodSync(`${folder}/key`, 0o600);
    t.equal((await listen('localhost', options)).certificate, 'localhost');
  },
);

t.test('if a libpq option in DATABASE_URL is unknown or contradicts another one, the error names the option', (t) => {
  for (const [options, message] of [
    [`sslrootcert=${OWN}`, 'has sslrootcert, which needs sslmode=verify-full'],
    ['sslcert=a&sslkey=b', 'has sslcert, which needs sslmode=verify-full'],
    ['sslnegotiation=direct', 'has sslnegotiation=direct, which needs sslmode=verify-full'],
    ['sslmode=disable&sslnegotiation=direct', 'has sslnegotiation=direct, which needs sslmode=verify-full'],
    ['sslmode=require&sslnegotiation=none', 'must have an sslnegotiation of postgres or direct'],
    ['prepared=maybe', 'must have a prepared of on or off'],
    ['sslmode=verify-ca&sslrootcert=system', 'has sslrootcert=system, which needs sslmode=verify-full'],
    ['sslmode=require&sslcert=a', 'must have sslcert and sslkey, or none of them'],
    ['sslmode=require&sslkey=a', 'must have sslcert and sslkey, or none of them'],
    ['sslmode=prefer', 'must have an sslmode of disable, require, verify-ca, verify-full'],
    ['sslmode=require&sslcrl=a', 'has an option that is not known: sslcrl'],
    ['target_session_attrs=any', 'must have target_session_attrs=read-write'],
    ['a/secret@b', 'has an option that is not known'],
  ] as const) {
    t.throws(() => parsePostgresUrl(`postgres://ada@db/pets?${options}`, 'petstore'), { message }, options);
  }
  t.end();
});
