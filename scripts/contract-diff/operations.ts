/** Compares an operation with what it was: its names, its end, who may call it; its requests and its responses. */
import { type Changes, compareLists, compareRest, describe, toChange } from './change.ts';
import type { Json } from './expand.ts';
import { compareParameters, compareRequestBody } from './requests.ts';
import { compareResponses } from './responses.ts';

const NO_KEY = 'no key';

export function* compareOperations(before: Json, after: Json): Changes {
  const place = before.operationId;
  if (after.operationId !== before.operationId) {
    const why = 'Generated clients name their methods by it.';
    yield toChange('breaking', place, describe('operationId', before.operationId, after.operationId), why);
  }
  const { lost, gained } = compareLists(before.tags, after.tags);
  if (lost.length > 0) {
    const why = 'Generated clients group their methods by tag: they move to another class.';
    yield toChange('breaking', place, describe('tags', before.tags, after.tags), why);
  } else if (gained.length > 0) {
    yield toChange('compatible', place, describe('tags', [], gained), 'It is still found where it was.');
  }
  yield* compareDeprecation(before, after, place);
  yield* compareSecurity(before.security, after.security, place);
  yield* compareParameters(before.parameters, after.parameters, place);
  yield* compareRequestBody(before.requestBody, after.requestBody, `${place}: body`);
  yield* compareResponses(before.responses, after.responses, place);
  yield* compareRest(before, after, place, [
    ...['operationId', 'tags', 'deprecated', 'x-deprecated-at', 'x-sunset', 'x-successor'],
    ...['security', 'parameters', 'requestBody', 'responses'],
  ]);
}

function* compareDeprecation(before: Json, after: Json, place: string): Changes {
  if (before.deprecated && !after.deprecated) {
    yield toChange('breaking', place, 'is no longer deprecated', 'Clients have begun to move away from it.');
  } else if (after.deprecated && !before.deprecated) {
    yield toChange('compatible', place, `is deprecated, until ${after['x-sunset']}`, 'It works as before until then.');
  } else {
    const sunset = describe('x-sunset', before['x-sunset'], after['x-sunset']);
    // Dates are written so that they sort as text; one that is missing promises nothing.
    if (after['x-sunset'] < before['x-sunset'] || (after['x-sunset'] && !before['x-sunset'])) {
      yield toChange('breaking', place, sunset, 'Clients have less time than they were promised.');
    } else if (after['x-sunset'] !== before['x-sunset']) {
      yield toChange('compatible', place, sunset, 'Clients have more time than they were promised.');
    }
    for (const key of ['x-deprecated-at', 'x-successor']) {
      if (before[key] !== after[key])
        yield toChange('compatible', place, describe(key, before[key], after[key]), 'It works as before.');
    }
  }
}

function* compareSecurity(before: Json, after: Json, place: string): Changes {
  const [old, now] = [toWaysIn(before), toWaysIn(after)];
  const { lost, gained } = compareLists(old, now);
  const what = describe('security', old, now);
  if (lost.length > 0 && !now.includes(NO_KEY)) {
    yield toChange('breaking', place, what, 'Requests that were let in are refused now.');
  } else if (lost.length + gained.length > 0) {
    yield toChange('compatible', place, what, 'Requests that were let in still are.');
  }
}

/** Each requirement is a way in, by all the schemes that it names. An operation that has none is open to everyone. */
function toWaysIn(requirements: Json[] = []): string[] {
  const ways = requirements.map((requirement) =>
    Object.entries<Json>(requirement)
      .map(([scheme, scopes]) => [scheme, ...scopes].join(' '))
      .join(' and '),
  );
  return ways.length > 0 ? ways.map((way) => way || NO_KEY) : [NO_KEY];
}
