/** Lets Node run TypeScript as it stands: `node --import=contract-first/register <file>`. Node 22.18 does so itself. */
import { existsSync } from 'node:fs';
import { register } from 'node:module';

if (!process.features.typescript) register('./erase-types.js', import.meta.url);

// Beside the package's sources, they are what `contract-first` means.
if (existsSync(new URL('../build-package.js', import.meta.url))) register('./sources.js', import.meta.url);
