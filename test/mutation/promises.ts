/** What a contract documents of its replies, and what of that a reply shows: a promise that no reply keeps is drift, too. */
import type { Reply } from '../contract-check.ts';
import type { Json, Operation } from '../properties/operations.ts';

/** One of them must have the optional fields of the body of all failures of an operation. */
const toFailures = (place: string) => place.replace(/ (4\w\w|5\w\w|default)$/, ' failures');

/** Every status, header and field of every operation, as `getPet 200 body.name`. */
export function documentedBy(operations: Operation[]): Set<string> {
  return new Set(
    operations.flatMap(({ id, responses }) =>
      Object.entries(responses).flatMap(([status, { headers = {}, content = {} }]) => {
        const place = `${id} ${status}`;
        const names = Object.keys(headers).map((name) => `${place} header ${name.toLowerCase()}`);
        const bodies = Object.values<Json>(content).flatMap(({ schema = {} }) =>
          fieldsOf(schema, `${place} body`, `${toFailures(place)} body`),
        );
        return [place, ...names, ...bodies];
      }),
    ),
  );
}

/** What a reply shows of the response that documents it, such as `getPet 200`. */
export function shownBy({ headers, text }: Reply, place: string): string[] {
  const names = Object.keys(headers).map((name) => `${place} header ${name}`);
  const isJson = /[/+]json\b/.test(headers['content-type'] ?? '');
  const body = isJson && text ? JSON.parse(text) : text;
  const bodies = [place, toFailures(place)].flatMap((one) => (text ? placesOf(body, `${one} body`) : []));
  return [place, ...names, ...bodies];
}

function fieldsOf({ properties = {}, required = [], items }: Json, place: string, ofOptional = place): string[] {
  const shown = Object.entries<Json>(properties).filter(([, { writeOnly }]) => !writeOnly);
  const fields = shown.flatMap(([name, field]) =>
    fieldsOf(field, `${required.includes(name) ? place : ofOptional}.${name}`),
  );
  return [place, ...fields, ...(items ? fieldsOf(items, `${place}[]`) : [])];
}

function placesOf(value: Json, place: string): string[] {
  if (Array.isArray(value)) return [place, ...value.flatMap((item) => placesOf(item, `${place}[]`))];
  if (typeof value !== 'object' || value === null) return [place];
  return [place, ...Object.entries(value).flatMap(([name, field]) => placesOf(field, `${place}.${name}`))];
}
