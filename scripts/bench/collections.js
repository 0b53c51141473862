/**
 * Loaded into each server: collects all garbage five times, as V8 does when a server has nothing to do for a while. What V8 forgets then
 * makes some servers slower for good, so that a server which has just started would be measured too fast.
 */
for (const count of [1, 2, 3, 4, 5]) setTimeout(globalThis.gc, 2000 + 100 * count).unref();
