/** Escapes a name for a JSON Pointer (RFC 6901): `a/b` is `a~1b`. */
export const toPointerToken = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

export const fromPointerToken = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');
