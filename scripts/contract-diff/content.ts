/** Compares the body of a request or a response, by its content type. */
import { type Changes, compareRest, pairs, toChange } from './change.ts';
import type { Json } from './expand.ts';
import type { Direction } from './presence.ts';
import { compareSchemas } from './schemas.ts';

export function* compareContent(before: Json, after: Json, direction: Direction, place: string): Changes {
  for (const [type, old, now] of pairs(before, after)) {
    if (!now) {
      const why = direction === 'request' ? 'Requests of this type are refused now.' : 'Clients that read it get none.';
      yield toChange('breaking', place, `content type ${type} was removed`, why);
    } else if (!old) {
      yield toChange('compatible', place, `content type ${type} was added`, 'The others work as before.');
    } else {
      yield* compareSchemas(old.schema, now.schema, direction, place);
      yield* compareRest(old, now, place, ['schema']);
    }
  }
}
