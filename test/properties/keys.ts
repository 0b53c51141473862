/** Adds API keys to requests: valid keys where the contract declares them, and keys that the server must reject. */
import fc, { type Arbitrary } from 'fast-check';
import { KEY } from '../service.ts';
import type { Operation } from './operations.ts';
import type { Request } from './requests.ts';

/** The location of a key. `name` is that of a header or query parameter; other keys are in `Authorization`. */
export interface KeyPlace {
  in: 'bearer' | 'basic' | 'header' | 'query';
  name: string;
}

/**
 * Adds a key to each request in one of the operation's locations. Returns the requests unchanged if the operation needs
 * no key.
 */
export function withKey(requests: Arbitrary<Request>, key = KEY): Arbitrary<Request> {
  return requests.chain((request) => {
    const { keyPlaces } = request.operation;
    if (keyPlaces.length === 0) return fc.constant(request);
    return fc.constantFrom(...keyPlaces).map((place) => put(request, place, key));
  });
}

/** Generates requests without a key, with a valid key in a wrong location, and with a wrong key. */
export function withWrongKey(requests: Arbitrary<Request>, { keyPlaces }: Operation): Arbitrary<Request> {
  const made = fc.stringMatching(/^[\w.~+/-]+=?$/);
  const wrong = fc.oneof(fc.constantFrom(`${KEY}0`, KEY.slice(1)), made);
  const texts = fc.oneof(
    fc.constantFrom('Bearer', KEY, `Basic ${KEY}`),
    wrong.map((key) => `Bearer ${key}`),
  );
  const elsewhere: KeyPlace[] = [
    { in: 'bearer', name: 'Authorization' },
    { in: 'header', name: 'X-Other-Key' },
    { in: 'query', name: 'other_key' },
  ];
  const others = elsewhere.filter((place) => place.in === 'header' || !keyPlaces.some((own) => own.in === place.in));
  return fc.oneof(
    requests,
    fc.tuple(requests, texts).map(([request, text]) => withHeader(request, 'authorization', text)),
    fc.tuple(requests, fc.constantFrom(...others)).map(([request, place]) => put(request, place, KEY)),
    fc.tuple(requests, fc.constantFrom(...keyPlaces), wrong).map(([request, place, key]) => put(request, place, key)),
  );
}

/** Returns a key for the GET operation at a URL, as text to append to the URL and as headers. */
export function keyAt(url: string, operations: Operation[]): { search: string; headers: Record<string, string> } {
  const [path = '', search] = url.split('?');
  const isAt = (operation: Operation) =>
    operation.method === 'GET' && new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  const [place] = operations.find(isAt)?.keyPlaces ?? [];
  if (place?.in === 'query') return { search: `${search ? '&' : '?'}${place.name}=${KEY}`, headers: {} };
  if (place?.in === 'header') return { search: '', headers: { [place.name]: KEY } };
  return { search: '', headers: place ? { authorization: toAuthorization(place, KEY) } : {} };
}

function put(request: Request, { in: place, name }: KeyPlace, key: string): Request {
  if (place === 'query') return { ...request, query: [...request.query, [name, key]] };
  if (place === 'header') return withHeader(request, name, key);
  return withHeader(request, 'authorization', toAuthorization({ in: place }, key));
}

const toAuthorization = ({ in: place }: Pick<KeyPlace, 'in'>, key: string) =>
  place === 'basic' ? `Basic ${Buffer.from(`team:${key}`).toString('base64')}` : `Bearer ${key}`;

const withHeader = (request: Request, name: string, value: string): Request => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});
