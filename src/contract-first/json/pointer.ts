/** Escapes a name for a JSON Pointer (RFC 6901): `a/b` is `a~1b`. */
export const toPointerToken = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Joins keys to a JSON Pointer: `paths` and `/a` make `/paths/~1a`. */
export const toPointerOf = (...keys: string[]): string => keys.map((key) => `/${toPointerToken(key)}`).join('');

export const fromPointerToken = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');
