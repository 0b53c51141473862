/** The end of a deprecated operation: from its sunset on, it answers 410. */

/** How often the clock is read, in milliseconds: somebody may set it, and no timer is longer than 24 days. */
const INTERVAL = 60_000;

/** Builds a function that says whether the sunset has passed, without reading the clock for each request. */
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
