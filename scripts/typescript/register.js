/**
 * Lets Node run this repository's TypeScript without a build: `node --import=./scripts/typescript/register.js <file>`.
 */
import '../../src/contract-first/cli/typescript/register.js';
