/**
 * Lets all tests of a process use one server. `new` runs the tests that it has written like this, because a server with
 * a large contract takes seconds to start.
 */
type End = () => Promise<void>;

/** The part of a test's context that closes its server. */
interface TestEnds {
  after(end: End): unknown;
}

let shared: { ends: End[]; server?: Promise<unknown> } | undefined;

/**
 * After this call, every test gets the server that the first test opens. Returns a function that closes the server.
 * After that, each test gets its own server again.
 */
export function shareTestServer(): End {
  const ends: End[] = [];
  shared = { ends };
  return async () => {
    shared = undefined;
    for (const end of ends) await end();
  };
}

/** Opens a server for a test. If the tests share a server, only the first call opens one. */
export function openOrShare<Server>(t: TestEnds, open: (t: TestEnds) => Promise<Server>): Promise<Server> {
  if (!shared) return open(t);
  const { ends } = shared;
  shared.server ??= open({ after: (end) => ends.push(end) });
  return shared.server as Promise<Server>;
}
