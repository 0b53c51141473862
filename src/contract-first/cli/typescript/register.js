/**
 * Lets Node run TypeScript without a build: `node --import=contract-first/register FILE`. Node 22.18 and later can do
 * this themselves.
 */
import { existsSync } from 'node:fs';
import { register } from 'node:module';

if (!process.features.typescript) register('./erase-types.js', import.meta.url);

// In this package's repository, imports of `contract-first` resolve to its sources.
if (existsSync(new URL('../build-package.js', import.meta.url))) register('./sources.js', import.meta.url);
