/** Long work says that it goes on. */

/** How long nothing may be said, in milliseconds. */
const SILENCE = 4000;

/** On standard error, since standard output is the tool's. */
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
