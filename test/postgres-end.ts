/** Ends a test's PostgreSQL server and removes its folder, also where the test itself is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Waits until its input ends, as it does with the process that holds it. The server is found by its arguments: its number may
 * have passed to another process. A process that is stopped (SIGSTOP) would never end.
 */
const SCRIPT = `
cat > /dev/null
server() { ps -A -o pid= -o args= | awk -v data="$0/data" 'index($0, " -D " data " ") { print $1 }'; }
for pid in $(server); do
  kill -CONT "$pid" $(ps -A -o pid= -o ppid= | awk -v parent="$pid" '$2 == parent { print $1 }')
  kill -QUIT "$pid"
done
while [ -n "$(server)" ]; do sleep 0.05; done
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
