/** Sends damaged requests, and checks all replies. */
import { setTimeout as wait } from 'node:timers/promises';
import { type CheckedReply, ContractCheck } from '../../contract-check.ts';
import { connectRaw, type Received } from '../../raw-client.ts';
import { makeMutants } from './mutated-requests.ts';

/** The number of connections that are open at the same time. */
const CONNECTIONS = 50;

/**
 * A last request, which ends the connection. If the damaged request before it is incomplete, the server reads this as
 * its rest, and a timeout ends the connection.
 */
const LAST = 'GET /livez HTTP/1.1\r\nHost: pets\r\nConnection: close\r\n\r\n';

export interface Verdict {
  /** The number of replies with each status. */
  statuses: Record<number, number>;
  /** The `X-Request-Id` of every reply. */
  ids: string[];
  /** The problems of the replies. */
  problems: string[];
}

const check = new ContractCheck();

/**
 * Sends damaged requests and checks their replies. One client in four resets the connection as soon as it has sent
 * everything; the others wait until the server closes it.
 */
export async function sendMutants(port: number, seed: number, count: number): Promise<Verdict> {
  const verdict: Verdict = { statuses: {}, ids: [], problems: [] };
  const mutants = makeMutants(seed, count);
  let sent = 0;

  async function work(): Promise<void> {
    for (const packets of mutants) {
      const isHasty = ++sent % 4 === 0;
      const { replies, rest } = await exchange(port, packets, isHasty);
      for (const reply of replies) judge(reply, packets, verdict);
      if (rest && !isHasty) verdict.problems.push(`${JSON.stringify(packets)} is answered in part: ${rest}`);
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return verdict;
}

async function exchange(port: number, packets: string[], isHasty: boolean): Promise<Received> {
  const { socket, ended, closed, received } = connectRaw(port);
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
  for (const packet of [...packets, LAST]) {
    socket.write(packet, 'latin1');
    await wait(1);
  }
  if (isHasty) socket.resetAndDestroy();
  else await ended;
  const last = received();
  socket.destroy();
  await closed;
  return last;
}

function judge(reply: CheckedReply, packets: string[], { statuses, ids, problems }: Verdict): void {
  statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
  ids.push(reply.headers['x-request-id'] as string);
  const isHead = reply.text === '' && reply.headers['content-length'] !== '0';
  const wrong = reply.status >= 400 && !isHead ? problemsOfError(reply) : [];
  // The only valid 5xx replies: an unknown method or transfer coding is 501 (RFC 9110, section 9.1; RFC 9112, section
  // 6.1), and an unknown version 505.
  if (reply.status >= 500 && ![501, 505].includes(reply.status)) wrong.push(`status ${reply.status}`);
  if (!reply.headers['x-request-id']) wrong.push('no X-Request-Id');
  if (wrong.length > 0) problems.push(`${JSON.stringify(packets).slice(0, 500)}: ${wrong.join('; ')}`);
}

/**
 * Checks a reply as the default reply of the contract. It may have the headers of the deprecated getPet only if the
 * request reached getPet.
 */
function problemsOfError(reply: CheckedReply): string[] {
  return check.problemsOf('GET', reply.headers.deprecation ? '/v1/pets/1' : '/v1/pets', reply);
}
