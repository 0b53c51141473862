/** What callers do, in any order: add pets, read whole lists or single pages, fetch pets that exist or do not. */
import fc, { type Arbitrary } from 'fast-check';
import type { Json, Operation } from './operations.ts';
import { type Request, requests, toUrl } from './requests.ts';

/** `which` counts round what there is: the pages that somebody may read on from, or the pets. */
export type Action =
  | { does: 'create' | 'list' | 'begin' | 'fetch'; request: Request }
  | { does: 'fetch one there is'; request: Request; which: number }
  | { does: 'create again'; request: Request; which: number }
  | { does: 'continue'; which: number };

const MOST_ACTIONS = 40;

/** The most pets of most pages, so that a few pets make many pages. */
const SMALL_PAGE = 4;

export function actionSequences(operations: Operation[]): Arbitrary<Action[]> {
  const [create, list, get] = ['createPet', 'listPets', 'getPet'].map(
    (id) => operations.find((operation) => operation.id === id) as Operation,
  ) as [Operation, Operation, Operation];
  const send = (does: 'create' | 'list' | 'begin' | 'fetch', operation: Operation) =>
    requests(operation).map((request): Action => ({ does, request }));

  const action = fc.oneof(
    { weight: 8, arbitrary: send('create', create) },
    {
      weight: 3,
      arbitrary: fc.record({ does: fc.constant('create again' as const), request: requests(create), which: fc.nat() }),
    },
    { weight: 1, arbitrary: send('list', list) },
    { weight: 2, arbitrary: send('list', withSmallPages(list)) },
    { weight: 3, arbitrary: send('begin', withSmallPages(list)) },
    { weight: 6, arbitrary: fc.record({ does: fc.constant('continue' as const), which: fc.nat() }) },
    { weight: 1, arbitrary: send('fetch', get) },
    {
      weight: 2,
      arbitrary: fc.record({
        does: fc.constant('fetch one there is' as const),
        request: requests(get),
        which: fc.nat(),
      }),
    },
  );
  return fc.array(action, { maxLength: MOST_ACTIONS, size: 'max' });
}

function withSmallPages(operation: Operation): Operation {
  const narrow = (schema: Json) => ({ ...schema, maximum: schema.minimum + SMALL_PAGE - 1 });
  const parameters = operation.parameters.map((parameter) =>
    parameter.name === 'limit' ? { ...parameter, required: true, schema: narrow(parameter.schema) } : parameter,
  );
  return { ...operation, parameters };
}

/** One line for people. */
export function describeAction(action: Action): string {
  const which = 'which' in action ? ` number ${action.which}` : '';
  if (!('request' in action)) return action.does + which;
  const { operation, body = '' } = action.request;
  return `${action.does}${which}: ${operation.method} ${toUrl(action.request)} ${body}`.trimEnd();
}
