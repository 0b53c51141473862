/** Lets Node run our TypeScript as it stands: `node --import=./scripts/typescript/register.js <file>`. Node 22.18 does so itself. */
import { register } from 'node:module';

if (!process.features.typescript) register('./erase-types.js', import.meta.url);
