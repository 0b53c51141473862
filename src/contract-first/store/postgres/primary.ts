/** Connects to the primary, and ends connections to the previous one after a failover. */
import { readFileSync, statSync } from 'node:fs';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { type ConnectionOptions, connectTo, type PostgresConnection } from './connection.ts';
import type { RunTask, Task } from './connection-pool.ts';
import type { PostgresSettings } from './settings.ts';

/** Tries the hosts in order; the timeouts are for each. @throws Error with the reason for each host */
type Connect = (options: ConnectionOptions) => Promise<PostgresConnection>;

const MOVED = new Error('another server has become the one to write to');

/** Builds the function that connects to the primary. @throws Error if a file with certificates or a key cannot be read */
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
 * Runs reads only on the primary. If the server turns out to be read-only, another server may have become the primary, so a connection to
 * it is tried after the read. If that succeeds, the old connection ends, and the read runs again on the new primary.
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
 * Converts the settings to TLS options with the meaning of libpq: if there are trusted certificates (`caFile`), `require` also verifies the
 * server's certificate.
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
