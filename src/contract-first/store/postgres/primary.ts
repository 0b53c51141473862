/** Connects to the primary server. After a failover, closes the connections to the previous primary. */
import { readFileSync, statSync } from 'node:fs';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { type ConnectionOptions, connectTo, type PostgresConnection } from './connection.ts';
import type { RunTask, Task } from './connection-pool.ts';
import type { PostgresSettings } from './settings.ts';

/**
 * Connects to the first of the hosts that is the primary. The timeouts apply to each host. @throws Error with the
 * reason for each host
 */
type Connect = (options: ConnectionOptions) => Promise<PostgresConnection>;

const MOVED = new Error('another server has become the one to write to');

/**
 * Builds the function that connects to the primary. @throws Error if a file with a certificate or a key cannot be read
 */
export function buildConnect(settings: PostgresSettings): Connect {
  const ssl = toTlsOptions(settings);
  const open = new Set<PostgresConnection>();

  return async (options) => {
    const failures: Error[] = [];
    for (const address of settings.hosts) {
      try {
        const connection = await connectTo(address, settings, ssl, options);
        for (const other of open) if (other.server !== connection.server) other.end(MOVED);
        open.add(connection);
        void connection.ended.then(() => open.delete(connection));
        return connection;
      } catch (error) {
        failures.push(error as Error);
      }
    }
    throw new Error(failures.map(({ message }) => message).join('; '), { cause: failures.at(-1)?.cause });
  };
}

/**
 * Makes a function that runs reads only on the primary. If the server of a read has become read-only, another server
 * may have become the primary, so the function tries to connect to the new primary. If it succeeds, the connection to
 * the old primary is closed, and the read runs again.
 */
export function buildRead(run: RunTask, connect: () => Promise<PostgresConnection>): RunTask {
  const look = () =>
    connect().then(
      (connection) => connection.end(),
      () => {},
    );
  return <Result>(task: Task<Result>) =>
    run(async (connection) => {
      const answer = await task(connection);
      if (connection.isReadOnly) await look();
      if (!connection.isOpen) throw MOVED;
      return answer;
    });
}

/**
 * Converts the settings to TLS options, as libpq understands them: if there is a file of trusted certificates
 * (`caFile`), `require` also verifies the server's certificate.
 */
function toTlsOptions({ sslMode, caFile, certFile, keyFile }: PostgresSettings): TlsOptions | false {
  if (sslMode === 'disable') return false;
  if (keyFile !== undefined && (statSync(keyFile).mode & 0o077) !== 0)
    throw new Error(`${keyFile} can be read by others: chmod 600`);
  return {
    ...(caFile !== undefined && { ca: readFileSync(caFile, 'utf8') }),
    ...(certFile !== undefined && { cert: readFileSync(certFile, 'utf8') }),
    ...(keyFile !== undefined && { key: readFileSync(keyFile, 'utf8') }),
    rejectUnauthorized: sslMode !== 'require' || caFile !== undefined,
    ...(sslMode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}
