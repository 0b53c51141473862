/** Lets Node run TypeScript: `node --import=contract-first/register FILE`. */
export {};
