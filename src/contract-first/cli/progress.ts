/** Prints a line during long work, to show that the work continues. */

/** The time without a line, in milliseconds. */
const SILENCE = 4000;

/** Prints on standard error, because the tool uses standard output. */
export async function withProgress<Made>(name: string, work: () => Promise<Made>): Promise<Made> {
  const started = Date.now();
  const timer = setInterval(() => {
    console.error(`${name} … ${Math.round((Date.now() - started) / 1000)} s`);
  }, SILENCE);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
