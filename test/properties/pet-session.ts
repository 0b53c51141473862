/**
 * Generates sequences of actions: clients add pets, read lists or single pages, and get pets that exist or not. Each
 * reply is compared with a model of the store, to the last digit.
 */
import { isDeepStrictEqual } from 'node:util';
import fc, { type Arbitrary } from 'fast-check';
import { nextOf, type ReceivedReply, type Service } from '../service.ts';
import { toExact } from './json-writing.ts';
import type { Json, Operation } from './operations.ts';
import { KeptKeys } from './request-properties.ts';
import { type Request, requests, toHeaders, toUrl } from './requests.ts';

/** `which` chooses one of the earlier creates, cursors or pets, modulo their number. */
type Action =
  | { does: 'create' | 'list' | 'begin' | 'fetch'; request: Request }
  | { does: 'fetch one there is'; request: Request; which: number }
  | { does: 'create again'; request: Request; which: number }
  | { does: 'continue'; which: number };

const MOST_ACTIONS = 40;

/** The largest limit of most pages. Small limits let few pets fill many pages. */
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

/** Describes an action in one line for the report of a failure. */
export function describeAction(action: Action): string {
  const which = 'which' in action ? ` number ${action.which}` : '';
  if (!('request' in action)) return action.does + which;
  const { operation, body = '' } = action.request;
  return `${action.does}${which}: ${operation.method} ${toUrl(action.request)} ${body}`.trimEnd();
}

interface Pet {
  id: bigint;
  status?: string;
  [field: string]: unknown;
}

interface PageQuery {
  limit: number;
  status: string | undefined;
  /** Lists only pets with a higher id than this one. */
  after: bigint | undefined;
}

class PetModel {
  readonly pets: Pet[] = [];

  /** Adds a pet. Its id comes from the store and must be higher than all earlier ones. */
  add(pet: Pet): void {
    const last = this.pets.at(-1);
    if (last && pet.id <= last.id) throw new Error(`pet ${pet.id} was made after pet ${last.id}`);
    this.pets.push(pet);
  }

  page({ limit, status, after }: PageQuery): { pets: Pet[]; isLast: boolean } {
    const rest = this.pets.filter(
      (pet) => (status === undefined || pet.status === status) && (after === undefined || pet.id > after),
    );
    return { pets: rest.slice(0, limit), isLast: rest.length <= limit };
  }
}

/** Where a list continues: the URL from the Link header of an earlier reply, and its query. */
interface Cursor {
  url: string;
  query: PageQuery;
}

/** Sends actions to the service, one after the other. */
export class PetSession {
  readonly #service: Service;
  readonly #model = new PetModel();
  readonly #keys = new KeptKeys();
  readonly #creates: Request[] = [];
  readonly #cursors: Cursor[] = [];

  constructor(service: Service) {
    this.#service = service;
  }

  /** Performs an action. Rejects if the reply differs from the model. */
  async perform(action: Action): Promise<void> {
    if (action.does === 'create') await this.#create(action.request);
    if (action.does === 'create again') {
      const earlier = pick(this.#creates, action.which);
      if (earlier) await this.#create(action.which % 2 ? earlier : { ...action.request, header: earlier.header });
    }
    if (action.does === 'list') await this.#list(action.request);
    if (action.does === 'begin') await this.#readAndKeep(toFirstPage(action.request));
    if (action.does === 'continue') await this.#readAndKeep(pick(this.#cursors, action.which));
    if (action.does === 'fetch') await this.#fetch(action.request);
    if (action.does === 'fetch one there is') {
      const pet = pick(this.#model.pets, action.which);
      if (pet) await this.#fetch({ ...action.request, path: [['petId', String(pet.id)]] });
    }
  }

  async #create(request: Request): Promise<void> {
    const sent = toExact(request.body as string) as object;
    const { body } = request;
    const reply = await this.#service.request(toUrl(request), { method: 'POST', body, headers: toHeaders(request) });
    this.#creates.push(request);
    if (!this.#keys.isNew(request, reply)) return;
    const { id } = toExact(reply.text) as Pet;
    expectBody(reply, 201, { ...sent, id });
    this.#model.add({ ...sent, id });
  }

  async #list(request: Request): Promise<void> {
    for (let cursor: Cursor | undefined = toFirstPage(request); cursor; ) cursor = await this.#read(cursor);
  }

  async #readAndKeep(cursor: Cursor | undefined): Promise<void> {
    const next = cursor && (await this.#read(cursor));
    if (next) this.#cursors.push(next);
  }

  /** Reads a page, and compares it with the model. Returns the cursor of the next page. */
  async #read({ url, query }: Cursor): Promise<Cursor | undefined> {
    const { pets, isLast } = this.#model.page(query);
    const reply = await this.#service.request(url);
    expectBody(reply, 200, pets);
    const next = nextOf(reply);
    if (isLast !== (next === undefined))
      throw new Error(`${url} is ${isLast ? '' : 'not '}the last page; Link: ${next}`);
    return next === undefined ? undefined : { url: next, query: { ...query, after: pets.at(-1)?.id } };
  }

  async #fetch(request: Request): Promise<void> {
    const id = BigInt(new Map(request.path).get('petId') as string);
    const pet = this.#model.pets.find((candidate) => candidate.id === id);
    const reply = await this.#service.request(toUrl(request));
    if (pet) expectBody(reply, 200, pet);
    else if (reply.status !== 404) throw new Error(`there is no pet ${id}, and yet: ${reply.text}`);
  }
}

/** Requests without a limit get the contract's default. */
function toFirstPage(request: Request): Cursor {
  const given = new Map(request.query as [string, string][]);
  const standard = request.operation.parameters.find(({ name }) => name === 'limit')?.schema.default;
  const limit = Number(given.get('limit') ?? standard);
  return { url: toUrl(request), query: { limit, status: given.get('status'), after: undefined } };
}

const pick = <T>(items: T[], which: number) => (items.length > 0 ? items[which % items.length] : undefined);

function expectBody({ status, text }: ReceivedReply, expectedStatus: number, expected: unknown): void {
  if (status === expectedStatus && isDeepStrictEqual(toExact(text), expected)) return;
  const digits = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  throw new Error(`the reply is ${status} ${text}, not ${expectedStatus} ${JSON.stringify(expected, digits)}`);
}
