/** JSON of unknown shape, whose fields a test may read without type checks. */

// biome-ignore lint/suspicious/noExplicitAny: a type would promise what a test is there to find out, by running
export type Json = any;
