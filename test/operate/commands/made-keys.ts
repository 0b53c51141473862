/** Runs keys commands on an open store, and reads the output of `keys create`. */
import { runCommand } from '../../../src/contract-first/operate/commands/command-line.ts';
import { toKeyCommands } from '../../../src/contract-first/operate/commands/keys.ts';
import type { Store } from '../../../src/contract-first/store/store.ts';

type Keyed = Parameters<typeof toKeyCommands>[0];

/** Returns the printed text, or the exit code if the arguments are wrong. */
export async function runKeys(store: Store, service: Keyed, args: readonly string[]): Promise<string> {
  let printed = '';
  const commands = toKeyCommands(service, async (_makes, work) => {
    printed = await work(store);
  });
  const code = await runCommand({ call: 'test', about: '', notes: '', commands }, ['keys', ...args]);
  return printed || `exit code ${code}`;
}

export const MADE =
  /^Key ([0-9a-f]{8}) \(([\s\S]+)\), (?:valid until (.*)|without expiry), for (.*):\n\n {2}(petstore_[0-9a-f]{48})\n\n/;

/** Reads the new key and its properties from the output of `keys create`. */
export function toMade(text: string) {
  const [, id, name, expiresAt, scopes, key] = MADE.exec(text) as string[];
  return { id, name, expiresAt, scopes, key } as {
    id: string;
    name: string;
    expiresAt: string | undefined;
    scopes: string;
    key: string;
  };
}
