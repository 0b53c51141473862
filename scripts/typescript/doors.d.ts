/** The text of a compiled file, whose path begins in the program's folder: `handlers/getPet.js`. */
export function toRelativeDoors(text: string, file: string): string;
/** Rewrites all files of a compiled program that import by a door. */
export function rewriteDoors(program: string): void;
