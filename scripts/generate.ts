/** Writes the types of the contract: `npm run generate`, or with `--check` fails when the committed ones are stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { loadContract } from '../src/contract.ts';

const target = new URL('../src/generated/contract.ts', import.meta.url);
const header = '// Made from openapi/petstore.yaml by `npm run generate`. Never edited.\n\n';

/** A default is filled in before a handler is called, so the handler always finds the parameter. */
function requireDefaulted(parameter: { required?: boolean; schema?: { default?: unknown } }) {
  if (parameter.schema?.default !== undefined) parameter.required = true;
}

const { document } = await loadContract();
for (const path of Object.values<Record<string, { parameters?: object[] }>>(document.paths)) {
  for (const operation of Object.values(path)) operation.parameters?.forEach(requireDefaulted);
}

const nodes = await openapiTS(document as unknown as OpenAPI3, {
  alphabetize: false,
  transform(schema) {
    if ('type' in schema && schema.type === 'integer' && schema.format === 'int64') {
      return ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
    }
    const codes = (schema as { 'x-extensible-enum'?: string[] })['x-extensible-enum'];
    if (codes) {
      return ts.factory.createUnionTypeNode(
        codes.map((code) => ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(code))),
      );
    }
    return undefined;
  },
});
const types = header + astToString(nodes);

if (!process.argv.includes('--check')) {
  writeFileSync(target, types);
} else if (readFileSync(target, 'utf8') !== types) {
  console.error('src/generated/contract.ts is stale: run `npm run generate` and commit what it writes.');
  process.exitCode = 1;
}
