/** How far a long run is: a bar on a terminal, and a line for every tenth anywhere else. */

const WIDTH = 30;

/** Called after each of `total` steps. */
export function buildProgress(total: number, out: NodeJS.WriteStream): () => void {
  const start = Date.now();
  let done = 0;
  return () => {
    done++;
    const seconds = Math.round((Date.now() - start) / 1000);
    if (out.isTTY) {
      const bar = '#'.repeat(Math.round((done / total) * WIDTH)).padEnd(WIDTH, '.');
      out.write(`\r[${bar}] ${done} of ${total}, ${seconds} s${done === total ? '\n' : ''}`);
    } else if (Math.floor((done * 10) / total) > Math.floor(((done - 1) * 10) / total)) {
      out.write(`${done} of ${total}, ${seconds} s\n`);
    }
  };
}
