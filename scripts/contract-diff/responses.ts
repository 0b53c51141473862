/** Compares what an operation answers. Removing what was there, or sending what was not declared, breaks clients. */
import { type Changes, compareRest, pairs, toChange } from './change.ts';
import { compareContent } from './content.ts';
import type { Json } from './expand.ts';
import { compareRequired } from './presence.ts';
import { compareSchemas } from './schemas.ts';

export function* compareResponses(before: Json, after: Json, operation: string): Changes {
  for (const [status, old, now] of pairs(before, after)) {
    const place = `${operation}: response ${status}`;
    if (!now) yield toChange('breaking', place, 'was removed', 'Clients that look for this status do so in vain.');
    else if (old) yield* compareResponse(old, now, place);
    else yield* compareAdded(status, now, before.default, place);
  }
}

function* compareAdded(status: string, response: Json, general: Json, place: string): Changes {
  if (!/^([45]|default)/.test(status)) {
    yield toChange('breaking', place, 'was added', 'Clients do not know this kind of success, nor its body.');
    return;
  }
  // RFC 9110, section 15: a client takes a status that it does not know for the x00 of its class.
  yield toChange('compatible', place, 'was added', 'Clients take an error that they do not know for one of its class.');
  // Up to now, such a reply was the general one.
  for (const change of compareContent(general?.content, response.content, 'response', `${place}: body`)) {
    if (general && change.verdict === 'breaking') yield change;
  }
}

function* compareResponse(before: Json, after: Json, place: string): Changes {
  for (const [name, old, now] of pairs(toLowerCase(before.headers), toLowerCase(after.headers))) {
    const header = `${place}: header ${name}`;
    if (!now) yield toChange('breaking', header, 'was removed', 'Clients that read it find nothing.');
    else if (!old) yield toChange('compatible', header, 'was added', 'Clients ignore headers that they do not know.');
    else {
      yield* compareRequired(old.required, now.required, 'response', header);
      yield* compareSchemas(old.schema, now.schema, 'response', header);
      yield* compareRest(old, now, header, ['required', 'schema']);
    }
  }
  for (const [name, old, now] of pairs(before.links, after.links)) {
    const link = `${place}: link ${name}`;
    if (!now) yield toChange('breaking', link, 'was removed', 'Clients that follow it find nothing.');
    else if (!old) yield toChange('compatible', link, 'was added', 'Nothing that was there is different.');
    else yield* compareRest(old, now, link, [], 'Clients that follow it find something else.');
  }
  yield* compareContent(before.content, after.content, 'response', `${place}: body`);
  yield* compareRest(before, after, place, ['headers', 'links', 'content']);
}

/** The names of headers are the same in any case (RFC 9110, section 5.1). */
function toLowerCase(headers: Json = {}): Json {
  return Object.fromEntries(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header]));
}
