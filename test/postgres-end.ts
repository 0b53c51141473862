/** Ends a test's PostgreSQL server and removes its folder, also where the test itself is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Waits until its input ends, as it does with the process that holds it. A server that was killed has left its number behind, which
 * may be another process's by now: its arguments tell. PostgreSQL itself kills those of its processes that do not end, after 5 seconds.
 */
const SCRIPT = `
cat > /dev/null
pid=$(head -n 1 "$0/data/postmaster.pid")
runs() { { tr '\\0' ' ' < "/proc/$pid/cmdline" || ps -o args= -p "$pid"; } | grep -qF -- " -D $0/data "; }
if runs; then kill -CONT "$pid"; kill -QUIT "$pid"; fi
while runs; do sleep 0.05; done
rm -rf "$0"`;

/** Returns what ends it. */
export function endWithProcess(folder: string): () => Promise<void> {
  // In a group of its own: what interrupts the test must not end the watcher.
  const watcher = spawn('sh', ['-c', SCRIPT, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  return async () => {
    const ended = once(watcher, 'exit');
    watcher.stdin.end();
    await ended;
  };
}
