/** A contract at a URL, kept in a file while it is judged. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkFile, SIZE_LIMIT } from '../../contract/read/bundle.ts';

/** How many milliseconds a contract may take to arrive. */
const TIME_LIMIT = 10_000;

/** Runs with the file itself, or with one that has what is at the URL. @throws Error that says in one line why there is nothing */
export async function withFile<T>(
  source: string,
  run: (file: string) => Promise<T>,
  { timeLimit = TIME_LIMIT, sizeLimit = SIZE_LIMIT } = {},
): Promise<T> {
  if (!/^https?:\/\//i.test(source)) {
    try {
      checkFile(source);
    } catch (error) {
      throw new Error(`${source} cannot be read: ${(error as Error).message}`);
    }
    return run(source);
  }
  const text = await fetchText(source, timeLimit, sizeLimit);
  const folder = mkdtempSync(join(tmpdir(), 'contract-inspect-'));
  try {
    const file = join(folder, 'contract.yaml');
    writeFileSync(file, text);
    return await run(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function fetchText(url: string, timeLimit: number, sizeLimit: number): Promise<Uint8Array> {
  let reply: Response;
  let text: Uint8Array;
  try {
    reply = await fetch(url, { signal: AbortSignal.timeout(timeLimit) });
    text = await readBody(reply, sizeLimit);
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`${url} cannot be fetched: ${cause instanceof Error ? cause.message : message}`);
  }
  if (!reply.ok) throw new Error(`${url} cannot be fetched: the server answers ${reply.status}`);
  return text;
}

/** As it comes: a small reply may unpack to many times its size. */
async function readBody({ body }: Response, sizeLimit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > sizeLimit) throw new Error(`it has more than ${sizeLimit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
