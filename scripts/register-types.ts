/** The types of the service, which the engine's types read: `interface Register`. */
import { existsSync } from 'node:fs';

/** The files that a team may have, with the module and the type that they add. */
const OPTIONAL = [
  { module: 'services', name: 'services', type: 'Services' },
  { module: 'tokens', name: 'claims', type: 'Claims' },
];

export function buildRegister(source: URL): string {
  const present = OPTIONAL.filter(({ module }) => existsSync(new URL(`${module}.ts`, source)));
  return `${present.map(({ module }) => `import type * as ${module} from '../${module}.ts';\n`).join('')}import type * as contract from './contract.ts';
import type * as collections from './domain.ts';
import type * as writes from './transactions.ts';

declare module '../registered.ts' {
  interface Register {
    operations: contract.operations;
    open: contract.OpenOperation;
    components: contract.components;
    domain: typeof collections.domain;
    errors: typeof collections.errors;
    transactions: typeof writes.transactions;
${present.map(({ module, name, type }) => `    ${name}: ${module}.${type};\n`).join('')}  }
}
`;
}
