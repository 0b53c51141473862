/** Handles deprecated operations: adds headers to every reply, and answers 410 after the sunset. */
import type { AnyContract, Operation } from '../contract/contract.ts';
import { encodePath } from '../contract/path-names.ts';

type Headers = Record<string, string>;

/** Returns `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the `Link` to the successor, as far as the contract gives their values. */
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

/** Joins a handler's own links, such as the one to the next page, with the successor's (RFC 8288). */
export const joinLinks = (own: string, successor: string | undefined): string =>
  successor === undefined ? own : `${own}, ${successor}`;

/**
 * The interval between reads of the clock, in milliseconds. A single long timer would not do: somebody may set the clock, and timers end
 * after 24 days at most.
 */
const INTERVAL = 60_000;

/** Whether the sunset has passed, without reading the clock for each request. */
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
