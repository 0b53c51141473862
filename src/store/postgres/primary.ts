/** Connections to the one server that can be written: where another has become that, those to its predecessor end. */
import { readFileSync, statSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { type Connection, type ConnectionTimes, connectTo } from './connection.ts';
import type { Run, Task } from './connection-pool.ts';
import type { PostgresSettings } from './settings.ts';

/** Each host may take its time to let a connection in. @throws Error that says of each host why it cannot be written */
export type Connect = (times: ConnectionTimes) => Promise<Connection>;

const MOVED = new Error('another server has become the one to write to');

/** @throws Error when a file with certificates or a key cannot be read */
export function buildConnect(settings: PostgresSettings): Connect {
  const ssl = toTlsOptions(settings);
  const open = new Set<Connection>();

  return async (times) => {
    const failures: Error[] = [];
    for (const address of settings.hosts) {
      try {
        const connection = await connectTo(address, settings, ssl, times);
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
 * Runs reads. While a server can only be read, another may have become the one to write to: an answer counts when there is none
 * after it; otherwise the connection has ended, and the read is run again on the other.
 */
export function buildRead(run: Run, connect: () => Promise<Connection>): Run {
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

/** As libpq: with certificates to trust, `require` checks the server's, too. */
function toTlsOptions({ sslMode, caFile, certFile, keyFile }: PostgresSettings): ConnectionOptions | false {
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
