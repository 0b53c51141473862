/** The end of a deprecated operation: from its sunset on, it answers 410. */

/** How often the clock is read, in milliseconds: somebody may set it, and no timer is longer than 24 days. */
const INTERVAL = 60_000;

/** Says whether the sunset has passed, without reading the clock for each request. */
export interface Sunset {
  readonly isPast: boolean;
}

export function buildSunset(time: Date | undefined): Sunset {
  const sunset = { isPast: false };
  if (!time) return sunset;
  const end = time.getTime();
  function look(): void {
    const left = end - Date.now();
    sunset.isPast = left <= 0;
    if (!sunset.isPast) setTimeout(look, Math.min(left, INTERVAL)).unref();
  }
  look();
  return sunset;
}
