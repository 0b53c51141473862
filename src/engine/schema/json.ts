/** What every file about schemas speaks of. */

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema, or any other node of the contract, is any JSON.
export type Json = any;

/** Records a problem: one line that names its place. */
export type Refuse = (problem: string) => void;
