/** Keys in a header, the query or a cookie (OpenAPI 3.1, section 4.8.27), and by basic authentication. */
import { hashKey } from '../../store/api-keys.ts';
import type { KeyPlace } from '../contract/contract.ts';
import { stateOf } from '../request-state.ts';
import type { Identify, NoteCaller } from './caller.ts';
import { buildKeyOf, buildVerified } from './sent-keys.ts';

export function buildIdentifyApiKey(place: KeyPlace, note: NoteCaller): Identify {
  const keyOf = buildKeyOf(place);
  const verified = buildVerified();
  return (request, _reply, done) => {
    const key = keyOf(request);
    const hash = verified.get(key) ?? hashKey(key);
    const failure = note(request, hash);
    if (stateOf(request).caller) verified.set(key, hash);
    done(failure);
  };
}
