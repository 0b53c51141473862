/** The end of a deprecated operation: from its sunset on, it is gone. */

/** How often the clock is looked at, in milliseconds: it may be set, and no timer is longer than 24 days. */
const INTERVAL = 60_000;

/** Tells whether the time has come, without a look at the clock for each request. */
export function buildIsGone(sunset: Date | undefined): () => boolean {
  if (!sunset) return () => false;
  const end = sunset.getTime();
  let isGone = false;
  function look(): void {
    const left = end - Date.now();
    isGone = left <= 0;
    if (!isGone) setTimeout(look, Math.min(left, INTERVAL)).unref();
  }
  look();
  return () => isGone;
}
