/** Prints a line during long work, to show that the work continues. */
import { Worker } from 'node:worker_threads';

/** The time between two lines, in milliseconds. */
const SILENCE = 4000;

/**
 * The code of a thread that prints the lines. In the main thread no timer would run while it reads a large contract.
 * The lines go to standard error, because standard output is for the results of the command.
 */
const PRINTER = `
const { workerData: { name, silence } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const started = Date.now();
setInterval(() => {
  try { writeSync(2, name + ' … ' + Math.round((Date.now() - started) / 1000) + ' s\\n'); } catch {}
}, silence);
`;

/** `name` is printable. */
export async function withProgress<Made>(name: string, work: () => Promise<Made>, silence = SILENCE): Promise<Made> {
  const printer = new Worker(PRINTER, { eval: true, execArgv: [], workerData: { name, silence } });
  printer.unref();
  try {
    return await work();
  } finally {
    await printer.terminate();
  }
}
