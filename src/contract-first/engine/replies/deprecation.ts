/** Makes the headers of deprecated operations, and checks whether their sunset has passed. */
import type { AnyContract, Operation } from '../contract/contract.ts';
import { encodePath } from '../contract/path-names.ts';

type Headers = Record<string, string>;

/**
 * Returns `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the `Link` to the successor. Headers without a value in the
 * contract are omitted.
 */
export function deprecationHeaders(
  { deprecation }: Operation,
  { publicPath, prefix, operations }: AnyContract,
): Headers {
  if (!deprecation) return {};
  const { at, sunset, successor } = deprecation;
  const pathOf = (id: string) => (operations.get(id) as Operation).path;
  return {
    ...(at && { deprecation: `@${at.getTime() / 1000}` }),
    ...(sunset && { sunset: sunset.toUTCString() }),
    ...(successor && { link: `<${publicPath}${prefix}${encodePath(pathOf(successor))}>; rel="successor-version"` }),
  };
}

/** Joins the `Link` of a handler, such as the link to the next page, with the link to the successor (RFC 8288). */
export const joinLinks = (own: string, successor: string | undefined): string =>
  successor === undefined ? own : `${own}, ${successor}`;

/**
 * How often the clock is read, in milliseconds. A single timer for the whole time until the sunset would not work:
 * somebody may set the clock, and a timer cannot be longer than 24 days.
 */
const INTERVAL = 60_000;

/**
 * Returns an object that shows whether the sunset has passed. A timer updates it, so that requests do not have to read
 * the clock.
 */
export function buildSunset(time: Date | undefined): { readonly isPast: boolean } {
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
