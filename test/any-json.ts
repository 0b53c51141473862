/** JSON as tests look into it. */

// biome-ignore lint/suspicious/noExplicitAny: a type would promise what a test is there to find out, by running
export type Json = any;
