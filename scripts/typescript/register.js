/** Lets Node run our TypeScript as it stands: `node --import=./scripts/typescript/register.js <file>`. */
import '../../src/contract-first/cli/typescript/register.js';
