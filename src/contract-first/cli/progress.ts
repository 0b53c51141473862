/** Prints a line at intervals during long work, to show that it continues. */

/** The time between two lines, in milliseconds. */
const SILENCE = 4000;

/** Runs `work`, and prints the lines on standard error, because standard output belongs to the tool. */
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
