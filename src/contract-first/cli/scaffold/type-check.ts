/** Compiles a new service, and finds the files with errors. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Returns the first error of each file, by the file's path from the current folder. */
export async function findTypeFaults(): Promise<Map<string, string>> {
  const typescript = createRequire(join(process.cwd(), 'package.json')).resolve('typescript');
  const { output } = await runNode([join(dirname(typescript), '../bin/tsc'), '--noEmit', '--pretty', 'false']);
  const faults = new Map<string, string>();
  for (const [, file = '', fault = ''] of output.matchAll(/^([^\s(][^(\n]*)\(\d+,\d+\): error TS\d+: (.*)$/gm))
    if (!faults.has(file)) faults.set(file, fault);
  return faults;
}

/** Runs Node with these arguments. */
export function runNode(args: string[]): Promise<{ isDone: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ isDone: error === null, output: stdout + stderr }),
    );
  });
}
