/** What the command `create` prints. */

export const MADE =
  /^Key ([0-9a-f]{8}) \(([\s\S]+)\), (?:valid until (.*)|without expiry), for (.*):\n\n {2}(petstore_[0-9a-f]{48})\n\n/;

/** What `create` says of the key that it has made. */
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
