/** Lets Node run TypeScript, by `node --import=contract-first/register`. */
export {};
