/** Sends actions to the service one by one, and compares each reply with the model, to the last digit. */
import { isDeepStrictEqual } from 'node:util';
import type { Received, Service } from '../service.ts';
import { toExact } from './exact-values.ts';
import { KeptKeys } from './kept-keys.ts';
import { nextOf } from './links.ts';
import type { Action } from './pet-actions.ts';
import { type Request, toHeaders, toUrl } from './requests.ts';

interface Pet {
  id: bigint;
  status?: string;
  [field: string]: unknown;
}

interface PageQuery {
  limit: number;
  status: string | undefined;
  /** Only pets that came after the one with this id. */
  after: bigint | undefined;
}

class PetModel {
  readonly pets: Pet[] = [];

  /** The id is the store's choice, as long as it is higher than all before. */
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

/** Where a list goes on, from any earlier reply. */
interface Cursor {
  url: string;
  query: PageQuery;
}

export class PetSession {
  readonly #service: Service;
  readonly #model = new PetModel();
  readonly #keys = new KeptKeys();
  readonly #creates: Request[] = [];
  readonly #cursors: Cursor[] = [];

  constructor(service: Service) {
    this.#service = service;
  }

  /** Rejects where the service does anything else than the model. */
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

  /** Reads a page, and returns where the next one begins. */
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

/** The limit of the contract holds where none is given. */
function toFirstPage(request: Request): Cursor {
  const given = new Map(request.query as [string, string][]);
  const standard = request.operation.parameters.find(({ name }) => name === 'limit')?.schema.default;
  const limit = Number(given.get('limit') ?? standard);
  return { url: toUrl(request), query: { limit, status: given.get('status'), after: undefined } };
}

const pick = <T>(items: T[], which: number) => (items.length > 0 ? items[which % items.length] : undefined);

function expectBody({ status, text }: Received, expectedStatus: number, expected: unknown): void {
  if (status === expectedStatus && isDeepStrictEqual(toExact(text), expected)) return;
  const digits = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  throw new Error(`the reply is ${status} ${text}, not ${expectedStatus} ${JSON.stringify(expected, digits)}`);
}
