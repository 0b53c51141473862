/** Whether `src/` and `handlers/` compile with other types of the contract. */
import { buildDiagnose, filesIn } from '../compiler.ts';

/** What the compiler says first of the code with these types; nothing where it compiles. */
export type TypeCheck = (types: string) => string | undefined;

export function buildTypeCheck(): TypeCheck {
  const diagnose = buildDiagnose();
  // In this order: the first problem is enough, and the files on top of Fastify's types take the compiler long.
  const files = filesIn(['handlers', 'src/store', 'src']);
  return (types) => {
    for (const [file, said] of diagnose(files, { 'src/generated/contract.ts': types })) return `${file}: ${said}`;
    return undefined;
  };
}
