/** Whether a thing must be there: a parameter, a body, a field, a header. */
import { type Change, type Changes, toChange } from './change.ts';

/** Which way a thing travels: from the client, or to it. */
export type Direction = 'request' | 'response';

export function* compareRequired(was = false, is = false, direction: Direction, place: string): Changes {
  if (was === is) return;
  const what = is ? 'became required' : 'is no longer required';
  if (direction === 'request') {
    yield is
      ? toChange('breaking', place, what, 'Requests without it are refused now.')
      : toChange('compatible', place, what, 'Requests that have it still work.');
  } else {
    yield is
      ? toChange('compatible', place, what, 'Clients that read it find it always.')
      : toChange('breaking', place, what, 'Clients that rely on it may find nothing.');
  }
}

/** Something new that clients may send, or must. */
export function toAddition(isRequired = false, place: string): Change {
  return isRequired
    ? toChange('breaking', place, 'was added, and is required', 'Requests without it are refused now.')
    : toChange('compatible', place, 'was added, and is optional', 'Requests without it still work.');
}
