/** What a server must answer to requests with an Idempotency-Key, by those that it has had before. */
import { isDeepStrictEqual } from 'node:util';
import type { Received } from '../service.ts';
import { toExact } from './json-writing.ts';
import type { Request } from './requests.ts';

interface Known {
  body: unknown;
  text: string;
}

/** The keys of requests to one operation that was done. */
export class KeptKeys {
  readonly #known = new Map<string, Known>();

  /** Whether the request was done now, as all without a key are. @throws Error where a key has another reply than it should */
  isNew({ operation, header, body }: Request, { status, headers, text }: Received): boolean {
    const name = operation.parameters.find(({ isKept }) => isKept)?.name;
    const key = new Map(header).get(name ?? '') as string | undefined;
    const known = this.#known.get(key ?? '');
    const sent = toExact(String(body));
    const isReplayed = headers['idempotency-replayed'] === 'true';
    if (!known) {
      if (key !== undefined && status < 300) this.#known.set(key, { body: sent, text });
      if (!isReplayed) return true;
    } else if (isDeepStrictEqual(known.body, sent) ? isReplayed && known.text === text : status === 422) return false;
    throw new Error(`the key ${key} has ${known ? `${known.text} already` : 'nothing yet'}, and now ${status} ${text}`);
  }
}
