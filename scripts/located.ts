/** Finds the file, line and column of a problem, in the form that editors and terminals understand. */
import { isMap, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { fromStep } from '../src/json/pointer.ts';

interface Place {
  /** Where it begins in the text, in characters. */
  offset: number;
  node: unknown;
}

/** `openapi/petstore.yaml:25:7: operation createPet: …`; `name` is that of the file, whose text this is. */
export function buildToLocated(text: string, name: string): (problem: string) => string {
  const lines = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: lines });
  return (problem) => {
    const [, line, column, words] = /^line (\d+), column (\d+): (.*)$/s.exec(problem) ?? [];
    if (line) return `${name}:${line}:${column}: ${words}`;
    const keys = toKeys(problem) ?? ofOperation(problem, contents);
    const { line: row, col } = lines.linePos(keys.reduce(step, { offset: 0, node: contents }).offset);
    return `${name}:${row}:${col}: ${problem}`;
  };
}

/** The place of the value under a key; if the text has none, the place of the node itself. */
function step({ offset, node }: Place, key: string): Place {
  if (isSeq<Node>(node)) {
    const item = node.items[Number(key)];
    return { offset: item?.range?.[0] ?? offset, node: item };
  }
  const pair = isMap(node) ? node.items.find((one) => String(one.key) === key) : undefined;
  return pair ? { offset: offsetOf(pair), node: pair.value } : { offset, node: undefined };
}

const offsetOf = ({ key }: Pair) => (key as Node).range?.[0] ?? 0;

/** The path in a problem that names its place. */
function toKeys(problem: string): string[] | undefined {
  const [, pointer] = /^#?(\/\S*?)(?::|\s)/.exec(problem) ?? [];
  if (pointer) {
    return pointer.slice(1).split('/').map(fromStep);
  }
  const [, path] = /^path (\S+): /.exec(problem) ?? [];
  const [, scheme] = /^security scheme (\S+): /.exec(problem) ?? [];
  const [, field] = /^(servers|openapi|jsonSchemaDialect): /.exec(problem) ?? [];
  if (path) return ['paths', path];
  return scheme ? ['components', 'securitySchemes', scheme] : field ? [field] : undefined;
}

/** The operation, and the part of it that the problem is about. */
function ofOperation(problem: string, contents: unknown): string[] {
  const [, id, rest = ''] = /^operation (\S+): (.*)$/s.exec(problem) ?? [];
  const paths = step({ offset: 0, node: contents }, 'paths').node;
  for (const { key: path, value: item } of isMap(paths) ? paths.items : []) {
    for (const { key: method, value: operation } of isMap(item) ? item.items : []) {
      if (!isMap(operation) || operation.get('operationId') !== id) continue;
      const [, status] = /^response (\w+): /.exec(rest) ?? [];
      const part = status ? ['responses', status] : /^(its body|(request\.)?body)\b/.test(rest) ? ['requestBody'] : [];
      return ['paths', String(path), String(method), ...part];
    }
  }
  return [];
}
