/** Lets Node run TypeScript without a build: `node --import=contract-first/register <file>`. Node 22.18 does so itself. */
import { existsSync } from 'node:fs';
import { register } from 'node:module';

if (!process.features.typescript) register('./erase-types.js', import.meta.url);

// If the package's sources are here, `contract-first` means these sources.
if (existsSync(new URL('../build-package.js', import.meta.url))) register('./sources.js', import.meta.url);
