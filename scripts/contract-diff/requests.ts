/** Compares what an operation takes: its parameters and its body. Refusing what was fine breaks clients. */
import { type Changes, compareRest, describe, pairs, toChange } from './change.ts';
import { compareContent } from './content.ts';
import type { Json } from './expand.ts';
import { compareRequired, toAddition } from './presence.ts';
import { compareSchemas } from './schemas.ts';

export function* compareParameters(before: Json[] = [], after: Json[] = [], operation: string): Changes {
  const byName = (list: Json[]) => Object.fromEntries(list.map((item) => [`${item.in} parameter ${item.name}`, item]));
  for (const [name, old, now] of pairs(byName(before), byName(after))) {
    const place = `${operation}: ${name}`;
    if (!now) yield toChange('breaking', place, 'was removed', 'Requests that have it are refused now.');
    else if (!old) yield toAddition(now.required, place);
    else {
      yield* compareRequired(old.required, now.required, 'request', place);
      yield* compareOpacity(old, now, place);
      yield* compareSchemas(old.schema, now.schema, 'request', place);
      yield* compareRest(old, now, place, ['required', 'x-opaque', 'schema']);
    }
  }
}

function* compareOpacity(before: Json, after: Json, place: string): Changes {
  if (after['x-opaque'] && !before['x-opaque']) {
    yield toChange('breaking', place, 'became opaque', 'Clients must no longer make up its values.');
  } else if (before['x-opaque'] && !after['x-opaque']) {
    yield toChange('compatible', place, 'is no longer opaque', 'Values that the service gave out still work.');
  }
}

export function* compareRequestBody(before: Json, after: Json, place: string): Changes {
  if (before && after) {
    yield* compareRequired(before.required, after.required, 'request', place);
    yield* compareSize(before['x-max-bytes'], after['x-max-bytes'], place);
    yield* compareContent(before.content, after.content, 'request', place);
    yield* compareRest(before, after, place, ['required', 'x-max-bytes', 'content']);
  } else if (after) yield toAddition(after.required, place);
  else if (before) yield toChange('breaking', place, 'was removed', 'Requests that have it are refused now.');
}

function* compareSize(before: Json, after: Json, place: string): Changes {
  const what = describe('x-max-bytes', before, after);
  const [was, is] = [before ?? Number.POSITIVE_INFINITY, after ?? Number.POSITIVE_INFINITY];
  if (is < was) yield toChange('breaking', place, what, 'Requests that were fine are refused now.');
  if (is > was) yield toChange('compatible', place, what, 'Requests that were fine still are.');
}
