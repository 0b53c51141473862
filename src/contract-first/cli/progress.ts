/** Prints a line during long work, to show that the work continues. */
import { Worker } from 'node:worker_threads';

/** The time without a line, in milliseconds. */
const SILENCE = 4000;

/** Prints from its own thread, because work that reads a large contract lets no timer run. Standard output belongs to the tool. */
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
