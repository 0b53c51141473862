/** Clients of a server that is stopped or killed meanwhile: the results of their requests. */
import { Agent, request as httpRequest, type OutgoingHttpHeaders } from 'node:http';

export interface Outcomes {
  answered: number;
  /** Its connection was taken, and no answer came. */
  lost: number;
  /** Neither an answer nor an end of its connection came in time. */
  hung: number;
}

/** How long a client waits for an answer before it says that the request hangs, in milliseconds. */
const REQUEST_TIMEOUT = 20_000;

/** Half of the clients keep their connection, half of them take a new one for each request. */
export function startClients(port: number, count: number, key: string) {
  const outcomes: Outcomes = { answered: 0, lost: 0, hung: 0 };
  const options = { host: '127.0.0.1', port, path: '/v1/pets', headers: { authorization: `Bearer ${key}` } };
  let isOver = false;

  async function send(_: unknown, index: number): Promise<void> {
    const agent = new Agent({ keepAlive: index % 2 === 0, maxSockets: 1 });
    const isPost = index % 4 < 2;
    while (!isOver) {
      const outcome = await new Promise<keyof Outcomes | 'refused'>((resolve) => {
        const headers: OutgoingHttpHeaders = isPost
          ? { ...options.headers, 'content-type': 'application/json' }
          : options.headers;
        const request = httpRequest({
          ...options,
          headers,
          agent,
          method: isPost ? 'POST' : 'GET',
          timeout: REQUEST_TIMEOUT,
        });
        request.on('timeout', () => {
          resolve('hung');
          request.destroy();
        });
        request.on('error', (error: NodeJS.ErrnoException) =>
          resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'lost'),
        );
        request.on('response', (response) =>
          response
            .resume()
            .on('error', () => resolve('lost'))
            .on('end', () => resolve('answered')),
        );
        request.end(isPost ? '{"name":"Rex","categoryId":7}' : undefined);
      });
      if (outcome === 'refused') return;
      outcomes[outcome]++;
    }
  }

  const ended = Promise.all(Array.from({ length: count }, send));
  return {
    outcomes,
    /** Resolves when every client was refused, or has ended its last request after `finish()`. */
    ended: ended.then(() => outcomes),
    finish: () => {
      isOver = true;
    },
  };
}
