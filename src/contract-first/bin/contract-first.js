#!/usr/bin/env node
/**
 * The command `contract-first`, which compares the version of Node with the minimum before it loads code that an old
 * Node cannot parse.
 */
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [least, own] = [engines.node, process.versions.node].map((version) => {
  const [major, minor] = version.replace('>=', '').split('.');
  return Number(major) * 1000 + Number(minor);
});

if (own >= least) await import('../dist/cli/main.js');
else {
  console.error(
    `contract-first needs Node.js ${engines.node.slice(2)} or newer, and this is ${process.versions.node}.`,
  );
  process.exitCode = 1;
}
