/**
 * Lets Node run TypeScript without a build: `node --import=contract-first/register FILE`. Node 22.18 and later need no
 * help.
 */
import { existsSync } from 'node:fs';
import { register } from 'node:module';

if (!process.features.typescript) register('./erase-types.js', import.meta.url);

// If the package's sources exist, imports of `contract-first` resolve to them.
if (existsSync(new URL('../build-package.js', import.meta.url))) register('./sources.js', import.meta.url);
